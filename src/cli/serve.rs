//! `ripplon serve`: a run whose window is on another machine; `ripplon connect`: that window.

use super::terminal::{say, tell};
use super::{InputError, Interrupt};
use crate::engine::Command;
use crate::remote::{PORT, ServeError, Server, Token};
use crate::solver;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The environment variable for a token: others on the machine can read the command line.
const TOKEN: &str = "RIPPLON_TOKEN";

/// A run, and who may connect to it.
#[derive(Args, Debug)]
pub struct ServeArgs {
    #[command(flatten)]
    scene: super::SceneArgs,
    /// Where to listen; other machines can reach 127.0.0.1 only through `ssh -L`. Port 0 is any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7421")]
    listen: String,
    /// A file with the token that windows must present (default: RIPPLON_TOKEN, or a new token, which is printed)
    #[arg(long, value_name = "F")]
    token_file: Option<PathBuf>,
    /// Start the run at once instead of waiting for a window
    #[arg(long)]
    play: bool,
}

/// The window of a run on another machine.
#[derive(Args, Debug)]
pub struct ConnectArgs {
    /// Where `ripplon serve` can be reached: HOST, HOST:PORT, or a port of this machine that `ssh -L` forwards
    address: String,
    /// The token that `ripplon serve` printed (default: RIPPLON_TOKEN)
    #[arg(long, value_name = "T")]
    token: Option<String>,
    /// A file with the token
    #[arg(long, value_name = "F", conflicts_with = "token")]
    token_file: Option<PathBuf>,
}

/// The token of the command line, a file or the environment.
fn token(text: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<Token>> {
    let read = match (text, file) {
        (Some(text), _) => Some(Token::read(text).map_err(|error| format!("--token: {error}"))),
        (None, Some(file)) => Some(
            Token::read_file(file)
                .map_err(|error| format!("--token-file {error}; name a file that holds a token and nothing else")),
        ),
        (None, None) => (std::env::var(TOKEN).ok())
            .map(|text| Token::read(&text).map_err(|error| format!("the environment variable {TOKEN}: {error}"))),
    };
    Ok(read.transpose().map_err(InputError)?)
}

pub(super) fn serve(args: &ServeArgs) -> anyhow::Result<()> {
    let (_, scenario) = solver::read_scene(&args.scene.scene, &args.scene.set)?;
    let title = scenario.title().to_owned();
    let known = token(None, args.token_file.as_deref())?;
    let token = known.map_or_else(Token::random, Ok)?;
    let interrupt = Interrupt::listen()?;
    let started = Server::start(&args.listen, token, Arc::new(scenario));
    let mut server = started.map_err(|error| match error {
        ServeError::Address { .. } => anyhow::Error::from(InputError(error.to_string())),
        error => error.into(),
    })?;
    if args.play {
        server.ask(Command::Play);
    }
    let address = server.address();
    say!("Serving {title:?} on {address}. From your own machine:");
    let port = address.port();
    let shown = if known.is_some() {
        "--token-file F".to_owned()
    } else {
        format!("--token {}", token.digits())
    };
    if address.ip().is_loopback() {
        say!("  ssh -N -L {port}:127.0.0.1:{port} {}", server.host());
        say!("  ripplon connect {port} {shown}");
    } else {
        say!("  ripplon connect {}:{port} {shown}", server.host());
        tell!(
            "warning: others on the network can read what is sent, including the token; better listen on 127.0.0.1:{PORT} and use ssh -L"
        );
    }
    say!("The run goes on without a window. Ctrl-C ends it.");
    server.run(&|| interrupt.asked(), &mut |text| {
        say!("{text}");
    });
    Ok(())
}

#[cfg(feature = "gui")]
pub(super) fn connect(args: &ConnectArgs) -> anyhow::Result<()> {
    use crate::app::{AppOptions, HeadStart};
    use crate::platform::Instant;
    use crate::remote::ConnectError;
    let token = token(args.token.as_deref(), args.token_file.as_deref())?;
    let token = token.ok_or_else(|| {
        InputError(format!(
            "a token is needed: --token, --token-file or {TOKEN}; `ripplon serve` prints it"
        ))
    })?;
    super::display::probe()?;
    let head_start = HeadStart::connected(Instant::now(), |wake| {
        crate::app::connect_with(&args.address, token, wake)
    });
    let head_start = head_start.map_err(|error: ConnectError| match error {
        ConnectError::WrongToken(_) => anyhow::Error::from(InputError(error.to_string())),
        other => other.into(),
    })?;
    crate::app::run_from(AppOptions::default(), head_start).map_err(|error| error.context(super::display::NO_WINDOW))
}

/// This build has no window.
#[cfg(not(feature = "gui"))]
pub(super) fn connect(args: &ConnectArgs) -> anyhow::Result<()> {
    let _ = token(args.token.as_deref(), args.token_file.as_deref())?;
    anyhow::bail!(
        "this build has no window to connect to {} (it was compiled without the feature `gui`)",
        args.address
    )
}
