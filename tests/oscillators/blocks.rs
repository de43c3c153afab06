//! Blocks however a grid is cut.

use super::{build, noise, oscillators, start};
use ripplon::solver::Taps;

/// Odd numbers of rows, and grids a little longer than their blocks: where a last block would be shorter than what its neighbour reads of it, the neighbour does not see the end of the grid.
#[test]
fn blocks_beside_an_end_give_the_bits_of_single_sweeps() {
    for (size, block) in [
        (vec![129, 40], "block = [96, 40]"),
        (vec![65, 40], "block = [80, 40]"),
        (vec![133, 31], ""),
        (vec![133, 3], ""),
        (vec![40, 5], ""),
        (vec![133, 82], "block = [200, 20]"),
        (vec![133, 40], "block = [200, 17]"),
        (vec![129], "block = [80]"),
        (vec![701], "block = [96]"),
    ] {
        for edges in ["\"wall\"", "\"soft\""] {
            for (order, steps) in [(2, 1), (2, 8), (4, 3)] {
                let run = |variant: &str| {
                    let mut run = build(&oscillators(
                        &size,
                        edges,
                        0.4,
                        &format!("order = {order}\n{variant}"),
                        "",
                    ));
                    start(run.as_mut(), &noise(size.iter().product(), 5));
                    run.advance(24, &mut Taps::default()).unwrap();
                    run.save().unwrap()
                };
                let blocked = run(&format!("variant = \"blocked\"\nfused_steps = {steps}\n{block}"));
                assert!(
                    run("variant = \"naive\"") == blocked,
                    "{size:?}, {edges}, order {order}, {steps} steps, {block}"
                );
            }
        }
    }
}
