//! `ripplon serve` and `ripplon connect`: what they print, and what they refuse.

use super::Place;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that is ended with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a server prints up to the line that says that it waits.
fn serve(place: &Place, arguments: &[&str]) -> (Serving, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ripplon"))
        .args(["serve", "small.toml"])
        .args(arguments)
        .current_dir(place.path("."))
        .env_remove("RIPPLON_TOKEN")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = String::new();
    for line in lines {
        let line = line.unwrap();
        said.push_str(&line);
        said.push('\n');
        if line.contains("Ctrl-C") {
            break;
        }
    }
    (Serving(child), said)
}

#[test]
fn a_server_prints_how_it_is_reached() {
    let place = Place::new();
    let (_serving, said) = serve(&place, &["--listen", "127.0.0.1:0"]);
    assert!(said.contains("Serving \"Small\" on 127.0.0.1:"), "{said}");
    assert!(said.contains("ssh -N -L "), "{said}");
    let line = said.lines().find(|line| line.contains("ripplon connect")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, port, option, token] = words[..] else {
        panic!("{line}")
    };
    assert!(port.parse::<u16>().is_ok() && option == "--token", "{line}");
    assert!(
        token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{line}"
    );
    // A token of the user's own is not printed.
    std::fs::write(place.path("token"), format!("{token}\n")).unwrap();
    let (_serving, said) = serve(&place, &["--listen", "127.0.0.1:0", "--token-file", "token"]);
    assert!(said.contains("--token-file") && !said.contains(token), "{said}");
}

#[test]
fn what_cannot_be_served_is_told() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let said = format!("nothing can listen on {address}");
    place
        .ripplon(&format!("serve small.toml --listen {address}"))
        .expect(1, &[&said, "choose another address with --listen"]);
    place
        .ripplon("serve small.toml --listen 127.0.0.1:none")
        .expect(2, &["--listen 127.0.0.1:none", "write ADDRESS:PORT"]);
    place.ripplon("serve none.toml").expect(2, &["none.toml"]);
    std::fs::write(place.path("token"), "secret").unwrap();
    place
        .ripplon("serve small.toml --token-file token")
        .expect(2, &["token: a token is 32 hexadecimal digits"]);
}

#[test]
fn a_window_needs_a_token() {
    let place = Place::new();
    place
        .ripplon("connect 7421")
        .expect(2, &["a token is needed: --token, --token-file or RIPPLON_TOKEN"]);
    place
        .ripplon("connect 7421 --token 12")
        .expect(2, &["--token: a token is 32 hexadecimal digits"]);
    let mut named = place.command(["connect", "7421"]);
    super::Run(named.env("RIPPLON_TOKEN", "zz").output().unwrap()).expect(
        2,
        &["the environment variable RIPPLON_TOKEN: a token is 32 hexadecimal digits"],
    );
}
