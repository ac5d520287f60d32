//! `repertoire play`: serves a page where the author of a skill types messages and sees their effect.

mod answer;
mod server;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::Context as _;
use repertoire::{Error, ErrorCode};
use serde_json::json;

use crate::args::{Common, PlayArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{hook, random, setup};

/// The port of the page, unless it is in use: a fixed address is easy to remember.
const USUAL_PORT: u16 = 4747;

pub(crate) fn run(args: &PlayArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    // An author wants to see the text that an agent's hook would add.
    let config = setup::config(common)?;
    let mut invalid = Vec::new();
    let options = hook::disclosure(&config, &mut invalid);
    for error in &invalid {
        out.partial_failure(&error.into());
    }
    let engine = setup::engine(common, |builder| {
        let options = args.routing.showing.apply(options);
        args.routing.matching.apply(builder).disclosure(options)
    })?;
    let code = setup::finish(common, &engine, out);
    let _watch = setup::watch(&engine, args.refresh.refresh, out)?;
    let listener = listen(args.http)?;
    // The path is secret: other users of this machine, and pages from elsewhere, do not know it.
    let path = random::token::<16>()?;
    let url = format!("http://{}/{path}/", listener.local_addr()?);
    if out.json {
        Output::json(&json!({"url": url}))?;
    } else {
        Output::exact(&format!("{url}\n"))?;
        out.note("open it in a browser; Ctrl-C ends it");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(server::serve(listener, &path, engine))?;
    Ok(code)
}

fn listen(wanted: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, USUAL_PORT));
    let address = wanted.unwrap_or(usual);
    match TcpListener::bind(address) {
        Err(error) if wanted.is_none() && error.kind() == io::ErrorKind::AddrInUse => {
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            TcpListener::bind(any).context("cannot listen on this machine")
        }
        Err(error) => {
            let message = format!("cannot listen on {address}: {error}");
            let help = "name another address with `--http 127.0.0.1:PORT`";
            Err(Error::new(ErrorCode::ExecutionError, message, help).with_source(error).into())
        }
        Ok(listener) => Ok(listener),
    }
}
