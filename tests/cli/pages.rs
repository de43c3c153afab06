//! Pages for classes: worksheets, the presets as a site, lectures.

use super::Place;
use std::fs;

/// What a page holds as its own: nothing is fetched from elsewhere.
fn fetches(page: &str) -> Vec<String> {
    let sources = page
        .split("src=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default());
    sources
        .filter(|source| !source.starts_with("data:"))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn a_worksheet_stands_alone_and_keeps_the_answers_apart() {
    let place = Place::new();
    let scene = super::SCENE.replace(
        "title = \"Small\"",
        "title = \"Small <b>\"\nabout = \"\"\"\n# A lesson\n\nA packet.\n\n**Try**\n- `packet.0.momentum = [0.5, 0.0]`: slower\n- nothing\n\"\"\"",
    );
    fs::write(place.path("own.toml"), scene).unwrap();
    place.ripplon("worksheet own.toml sheet.html").expect(0, &[]);
    let page = place.text("sheet.html");
    assert!(page.contains("<title>Small &lt;b&gt;</title>") && !page.contains("Small <b>"));
    assert!(fetches(&page).is_empty(), "{:?}", fetches(&page));
    assert!(
        page.contains("data:image/png;base64,iVBORw0KGgo"),
        "the picture is inside"
    );
    assert!(page.contains("32 × 24 sites, 0.5 apart") && page.contains("k = (1, 0), λ = 6.28319"));
    assert!(page.contains("<li>Norm at t = 0.80?"));
    // Who is to foretell what a detector records knows where it stands.
    assert!(page.contains("<td>right-half: probability in the box from (8, 0) to (16, 12)</td>"));
    // Two tasks, each with lines to write on, and one question.
    assert_eq!(page.matches("class=\"lines\"").count(), 3);
    assert!(
        !page.contains("Answers") && !page.contains("Every step is unitary"),
        "the answers are the teacher's"
    );
    place.ripplon("worksheet own.toml solved.html --answers").expect(0, &[]);
    let solved = place.text("solved.html");
    assert!(solved.contains("Every step is unitary") && solved.contains("agrees"));
    // The scene in the page is the scene.
    let text = solved.split("data:application/toml;base64,").nth(1).unwrap();
    let text = text.split('"').next().unwrap();
    assert!(
        text.len() > 400
            && text
                .bytes()
                .all(|sign| sign.is_ascii_alphanumeric() || b"+/=".contains(&sign))
    );

    place
        .ripplon("worksheet own.toml sheet.pdf")
        .expect(2, &["sheet.pdf: the name must end in .html"]);
    place
        .ripplon("worksheet own.toml own.toml")
        .expect(2, &["must end in .html"]);
    place
        .ripplon("worksheet nothing sheet.html")
        .expect(2, &["no preset and no file"]);
}

/// The answers say as `ripplon run` does what is predicted of other physics.
#[test]
fn a_worksheet_of_a_changed_scene_judges_nothing() {
    let place = Place::new();
    let scene = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 2e-3\n\
                 [[pulse]]\ncenter = [3.2]\nwidth = 0.4\n[[detector]]\nname = \"ear\"\nat = [3.2]\n\
                 [[expect]]\ndetector = \"ear\"\nat = 2e-3\nvalue = 99.0\ntolerance = 0.1\n";
    fs::write(place.path("pulse.toml"), scene).unwrap();
    let judged = |set: &str| {
        place
            .ripplon(&format!("worksheet pulse.toml sheet.html --answers {set}"))
            .expect(0, &[]);
        let page = place.text("sheet.html");
        [page.contains(">disagrees<"), page.contains("<td>not judged</td>")]
    };
    assert_eq!(judged(""), [true, false]);
    assert_eq!(judged("--set time.step=5e-5"), [true, false]);
    assert_eq!(judged("--set acoustic.speed=300"), [false, true]);
}

#[test]
fn the_site_has_film_lesson_and_verdicts_of_a_preset() {
    let place = Place::new();
    place.ripplon("list presets --site out --only tube").expect(0, &[]);
    let page = place.text("out/index.html");
    assert!(page.contains("<article id=\"tube\">") && page.contains("A clap in a tube"));
    assert!(page.contains("<code>ripplon tube</code>") && page.contains("<h3>Two halves</h3>"));
    for source in fetches(&page) {
        assert!(place.path("out").join(&source).is_file(), "{source}");
    }
    assert!(page.matches(">agrees<").count() >= 1 && !page.contains("disagrees"));
    assert!(page.contains("<td>50.00 ms</td><td>0.5000 ± 0.003 Pa</td>"));
    // Pictures at hand are small, and drawn at their own size.
    place
        .ripplon("list presets --site stills --stills thumbnails --only tube")
        .expect(0, &[]);
    let page = place.text("stills/index.html");
    let image =
        "<img class=\"still\" src=\"thumbnails/tube.png\" alt=\"\" loading=\"lazy\" width=\"200\" height=\"112\">";
    assert_eq!(page.matches(image).count(), 2);
    assert_eq!(page.matches("<img").count(), 2);
    assert!(page.contains("img.still { width: 200px; }"));
    place
        .ripplon("list presets --site out --only tub")
        .expect(2, &["there is no preset tub"]);
    place
        .ripplon("list methods --site out")
        .expect(2, &["--site draws presets"]);
}

#[test]
fn a_lecture_is_checked_before_it_is_given() {
    let place = Place::new();
    let lecture = "title = \"Waves\"\n[[scene]]\nscene = \"double-slit\"\nminutes = 2.5\nnote = \"Look at the dark rays.\"\n\
                   [[scene]]\nscene = \"small.toml\"\nset = [\"time.end=0.4\"]\nminutes = 1\ngoes_on = true\n";
    fs::create_dir(place.path("talks")).unwrap();
    fs::copy(place.path("small.toml"), place.path("talks/small.toml")).unwrap();
    fs::write(place.path("talks/waves.toml"), lecture).unwrap();
    let run = place.ripplon("lecture talks/waves.toml --check");
    let out = run.expect(0, &[]).out();
    assert!(
        out.contains("Waves") && out.contains("0:00  double-slit, 2.5 min: ") && out.contains(", 1 min: Small\n"),
        "{out}"
    );
    assert!(
        out.contains("2:30  ") && out.contains("2 scenes, 3:30 planned\n"),
        "{out}"
    );
    fs::write(place.path("talks/open.toml"), lecture.replace("minutes = 2.5\n", "")).unwrap();
    place
        .ripplon("lecture talks/open.toml --check")
        .expect(0, &["2 scenes, 1:00 planned for 1 of them"]);
    // A fault in a scene, or in the lecture, is found before anybody looks on.
    fs::write(place.path("bad.toml"), lecture.replace("time.end=0.4", "time.end=-1")).unwrap();
    fs::copy(place.path("small.toml"), place.path("small.toml.bak")).unwrap();
    place.ripplon("lecture bad.toml --check").expect(2, &["time.end"]);
    // In every scene, not only in the first that has one.
    let both = lecture
        .replace("time.end=0.4", "time.end=-1")
        .replace("double-slit", "no-such-preset");
    fs::write(place.path("bad.toml"), both).unwrap();
    place
        .ripplon("lecture bad.toml --check")
        .expect(2, &["no-such-preset", "time.end"]);
    fs::write(place.path("bad.toml"), "[[scene]]\nscene = \"pond\"\nminuts = 3\n").unwrap();
    place
        .ripplon("lecture bad.toml")
        .expect(2, &["bad.toml:3:1", "did you mean `minutes`?"]);
    // Each kind of file given for the other.
    for wrong in ["run talks/waves.toml", "check talks/waves.toml"] {
        let run = place.ripplon(wrong);
        let said = run.expect(
            2,
            &["this is a lecture, not a scene", "`ripplon lecture FILE`", "1 fault in"],
        );
        assert!(!said.err().contains("no such key"), "{}", said.err());
    }
    place
        .ripplon("lecture small.toml --check")
        .expect(2, &["this is a scene, not a lecture", "`ripplon FILE`", "1 fault in"]);
    place
        .ripplon("lecture none.toml")
        .expect(2, &["none.toml", "cannot be read"]);
}
