//! Those who have no business here, and other versions of the program.

use super::link::{FAST, Proxy};
use super::{SCENE, Served, scene, wait, window};
use ripplon::engine::Command;
use ripplon::remote::hello::{Answer, Hello, PROTOCOL, Token};
use ripplon::remote::wire::{self, Order, Request, SceneMessage, ToServer};
use ripplon::remote::{ConnectError, connect};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

fn refused(address: SocketAddr, token: Token) -> ConnectError {
    let folder = tempfile::tempdir().unwrap();
    match connect(&address.to_string(), token, folder.path(), || ()) {
        Ok(_) => panic!("let in"),
        Err(error) => error,
    }
}

#[test]
fn a_wrong_token_is_refused() {
    let server = Served::start(scene(SCENE, &[]));
    let error = refused(server.address, Token::random().unwrap());
    assert_eq!(error, ConnectError::WrongToken(server.address.to_string()));
    assert!(
        error
            .to_string()
            .contains("take the one that its `ripplon serve` has printed")
    );
    // Whoever has it still comes in.
    window(server.address, server.token);
}

#[test]
fn nobody_and_others_are_told_apart() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = refused(nobody, Token::random().unwrap());
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error}");
    assert!(
        error.to_string().contains("start `ripplon serve SCENE` there"),
        "{error}"
    );
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    });
    let error = refused(address, Token::random().unwrap());
    thread.join().unwrap();
    assert_eq!(error, ConnectError::Foreign(address.to_string()));
    // `ssh -L` before a server that is not there.
    let proxy = Proxy::start(nobody, FAST);
    assert_eq!(
        refused(proxy.address, Token::random().unwrap()),
        ConnectError::Foreign(proxy.address.to_string())
    );
}

fn knock(address: SocketAddr) -> WebSocket<MaybeTlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(std::time::Duration::from_mins(1)))
        .unwrap();
    let (socket, _) = tungstenite::client(format!("ws://{address}/"), MaybeTlsStream::Plain(stream)).unwrap();
    socket
}

fn answer(socket: &mut WebSocket<MaybeTlsStream<TcpStream>>) -> Answer {
    match socket.read() {
        Ok(Message::Binary(bytes)) => Answer::read(&bytes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_protocol_is_told_by_both_ends() {
    let server = Served::start(scene(SCENE, &[]));
    let mut bytes = Hello { window: 1, session: 0 }.bytes(&server.token);
    bytes[7] += 1;
    let mut socket = knock(server.address);
    socket.send(Message::binary(bytes)).unwrap();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    assert_eq!(answer(&mut socket), Answer::OtherVersion(PROTOCOL, version));

    let newer = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = newer.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (stream, _) = newer.accept().unwrap();
        let mut socket = tungstenite::accept(stream).unwrap();
        socket.read().unwrap();
        let mut bytes = Answer::OtherVersion(PROTOCOL + 1, "9.1.0".to_owned()).bytes();
        bytes[7] += 1;
        socket.send(Message::binary(bytes)).unwrap();
        let _ = socket.read();
    });
    let text = refused(address, Token::random().unwrap()).to_string();
    thread.join().unwrap();
    for part in [
        "Ripplon 9.1.0".to_owned(),
        format!("protocol {}", PROTOCOL + 1),
        format!("which speaks {PROTOCOL}"),
        "the same version on both machines".to_owned(),
    ] {
        assert!(text.contains(&part), "{text}");
    }
}

/// `SplitMix64` (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195).
#[expect(clippy::cast_possible_truncation, reason = "any bits do")]
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as usize
}

/// Damaged messages end their connection, and nothing else. What decoders make of thousands of them is in `tests/hostile`.
#[test]
fn damaged_messages_end_a_connection_and_not_the_run() {
    let server = Served::start(scene(SCENE, &[]));
    let scene = SceneMessage {
        id: 1,
        text: SCENE.to_owned(),
    };
    let whole = [
        ToServer::Request(1, Request::Scene(scene)),
        ToServer::Request(1, Request::Command(Order::Step(3))),
        ToServer::Came(wire::Came::default()),
    ]
    .map(|message| wire::encode(&message));
    let mut state = 1;
    for round in 0..120 {
        let mut socket = knock(server.address);
        let hello = Hello {
            window: round + 100,
            session: 0,
        };
        socket.send(Message::binary(hello.bytes(&server.token))).unwrap();
        assert!(matches!(answer(&mut socket), Answer::Welcome(_)));
        for _ in 0..4 {
            let mut bytes = whole[random(&mut state) % whole.len()].clone();
            for _ in 0..=random(&mut state) % 3 {
                let at = random(&mut state) % bytes.len();
                bytes[at] ^= 1 << (random(&mut state) % 8);
            }
            if socket.send(Message::binary(bytes)).is_err() {
                break;
            }
        }
        if round % 3 == 0 {
            // In the middle of a frame of the WebSocket.
            let MaybeTlsStream::Plain(stream) = socket.get_mut() else {
                panic!()
            };
            let _ = stream.write_all(&[0x82, 0xff, 0xff, 0xff]);
        }
    }
    let mut there = window(server.address, server.token);
    // A damaged message may be an order to play, too.
    for order in [Command::Pause, Command::Reset, Command::Step(4)] {
        there.worker.send(order);
    }
    wait(&mut there.worker, "it steps", |frame| frame.clock.steps == 4);
}

/// Strangers that say nothing do not keep the window out.
#[test]
fn silence_holds_nobody_up() {
    let server = Served::start(scene(SCENE, &[]));
    let silent: Vec<TcpStream> = (0..10).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    window(server.address, server.token);
    drop(silent);
}
