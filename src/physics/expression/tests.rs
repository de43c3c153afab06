use super::*;

fn value(text: &str) -> f64 {
    Expression::parse(text, SPACE)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .eval(&[3.0, 2.0, 0.5, 10.0])
}

#[test]
fn operators_bind_as_on_paper() {
    for (text, expected) in [
        ("-x^2", -9.0),
        ("(-x)^2", 9.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("-2^-2", -0.25),
        ("2*-x", -6.0),
        ("x - y - 1", 0.0),
        ("12/2/3", 2.0),
        ("12/(2*3)", 2.0),
        ("--x", 3.0),
        ("+x", 3.0),
        ("1 + x*y^2", 13.0),
        ("x < y", 0.0),
        ("x - 1 == y", 1.0),
        ("(1 < x)*(x <= 3)", 1.0),
        ("if(x > y, 5, 1/0)", 5.0),
        ("min(x, y, 1)", 1.0),
        ("max(x, y, 1)", 3.0),
        ("mod(-1, 4)", 3.0),
        ("sign(0) + sign(-7)", -1.0),
        ("step(0) + step(-1)", 1.0),
        ("floor(-0.5) + ceil(0.5) + round(2.5) + fract(-0.25)", 3.75),
        ("hypot(x, 4) + abs(-1) + sqrt(4) + cbrt(8)", 10.0),
        ("1e3 + .5 + 2.", 1002.5),
        ("ln(e) + log10(100)", 3.0),
        ("r", 10.0),
        ("0^0", 1.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    assert!((value("sin(pi*z)") - 1.0).abs() < 1e-15);
    assert!((value("2*pi") - std::f64::consts::TAU).abs() < 1e-15);
    let t = Expression::parse("1 + 0.1*cos(2*pi*t)", TIME).unwrap();
    assert!((t.eval(&[0.0]) - 1.1).abs() < 1e-15);
}

#[test]
fn rows_give_bit_by_bit_what_points_give() {
    let xs: Vec<f64> = (0..37).map(|i| f64::from(i) * 0.37 - 4.0).collect();
    let mut scratch = Scratch::default();
    let mut out = vec![0.0; xs.len()];
    for text in [
        "0.5*0.01*((x-1)^2 + (y-64)^2)",
        "x/y - y/x + x*x - x^3 + 2^x",
        "if(x > y, sin(x), if(x < 0, y, 3))",
        "min(x, y, z) + max(1, x) + mod(x, 0.7)*random(x, y, 3) + random(x)",
        "1 - x + (2 - x) - (y - x)*(x - z) + -abs(x)",
        "atan2(x, y) + hypot(y, x) + step(x) - sign(x) + (x >= 0.1)",
        "3",
        "y*z",
        "x",
    ] {
        let e = Expression::parse(text, SPACE).unwrap();
        e.eval_row(
            &[
                Argument::Row(&xs),
                Argument::Same(1.5),
                Argument::Same(-2.0),
                Argument::Same(0.0),
            ],
            &mut scratch,
            &mut out,
        );
        for (x, row) in xs.iter().zip(&out) {
            let point = e.eval(&[*x, 1.5, -2.0, 0.0]);
            // A square by one product and powi(2) are the same product.
            assert_eq!(point.to_bits(), row.to_bits(), "{text} at {x}: {point} {row}");
        }
    }
}

#[test]
fn random_is_uniform_and_depends_on_every_argument() {
    let e = Expression::parse("random(x, y, 5)", SPACE).unwrap();
    let n = 100_000;
    let values: Vec<f64> = (0..n)
        .map(|i| e.eval(&[f64::from(i % 400), f64::from(i / 400), 0.0, 0.0]))
        .collect();
    let mean = values.iter().sum::<f64>() / f64::from(n);
    let square = values.iter().map(|v| (v - 0.5).powi(2)).sum::<f64>() / f64::from(n);
    // Five standard errors: sqrt(1/12/n) and sqrt(1/180/n).
    assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / f64::from(n)).sqrt(), "{mean}");
    assert!(
        (square - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0 / f64::from(n)).sqrt(),
        "{square}"
    );
    assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
    // Neighbours are not correlated: the mean of n products scatters by 1/12/sqrt(n).
    let product = values.windows(2).map(|w| (w[0] - 0.5) * (w[1] - 0.5)).sum::<f64>() / f64::from(n);
    assert!(product.abs() < 5.0 / 12.0 / f64::from(n).sqrt(), "{product}");
    assert!(value("random(1, 2)") != value("random(2, 1)"));
    assert!(value("random(1)") != value("random(1, 0)"));
}

#[test]
fn faults_name_their_place() {
    let fault = |text: &str| Expression::parse(text, SPACE).unwrap_err();
    for (text, place) in [
        ("x + q", (4, 5)),
        ("x + (", (5, 6)),
        ("x +* 2", (3, 4)),
        ("2x", (1, 2)),
        ("x ** 2", (2, 4)),
        ("sin x", (4, 5)),
        ("sin(x, y)", (0, 3)),
        ("x)", (1, 2)),
        ("1 < x < 2", (6, 7)),
        ("ä§", (1, 2)),
        ("1.2.3", (3, 5)),
        ("1e999", (0, 5)),
        ("", (0, 1)),
    ] {
        assert_eq!(fault(text).place(), Some(place), "{text}: {}", fault(text));
        assert!(!fault(text).remedy().is_empty());
    }
    assert!(matches!(fault("t"), ExpressionError::UnknownName { .. }));
    for text in [
        "(".repeat(3000),
        "-".repeat(3000),
        "2^".repeat(1500),
        "sin(".repeat(900),
        "1+(".repeat(900),
        "x".repeat(9999),
    ] {
        assert!(Expression::parse(&text, SPACE).is_err());
    }
    assert!(Expression::parse(&"1+".repeat(1000).replace("1+1+", "x+(1+1)+"), SPACE).is_err());
}
