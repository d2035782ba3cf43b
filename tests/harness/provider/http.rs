//! As much of HTTP/1.1 as it takes, so that an answer can be given twice, late or not at all.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::ledger::{Asked, Books};
use super::{Behave, Behaviour, Shared, lock};

/// Bytes of a request.
const MAX_REQUEST: usize = 1024 * 1024;
/// How long a request may take to arrive, and how long one hangs.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) async fn serve(listener: TcpListener, books: Shared) {
    loop {
        match listener.accept().await {
            Ok((stream, _peer)) => drop(tokio::spawn(answer(stream, Shared::clone(&books)))),
            // Out of file descriptors, perhaps: others may end in the meantime.
            Err(_error) => sleep(Duration::from_millis(20)).await,
        }
    }
}

/// A request's method, path and content.
struct Request {
    method: String,
    asked: Asked,
}

/// One request for each connection. What goes wrong with it is its client's to notice.
async fn answer(mut stream: TcpStream, books: Shared) -> io::Result<()> {
    let Ok(Some(request)) = timeout(PATIENCE, read(&mut stream)).await? else { return Ok(()) };
    if let Some((status, body)) = control(&request, &books) {
        return write(&mut stream, status, &[], &body).await;
    }
    let given = lock(&books).ask(&request.asked);
    match given.behaviour {
        Behaviour::Cut { .. } => return Ok(()),
        Behaviour::Hang { .. } => {
            // Until the client has had enough.
            let mut rest = [0; 16];
            let _ = timeout(PATIENCE, stream.read(&mut rest)).await;
            return Ok(());
        }
        Behaviour::Late { ms } => sleep(Duration::from_millis(ms)).await,
        _ => {}
    }
    write(&mut stream, given.status, &given.headers, &given.body).await?;
    if given.behaviour == Behaviour::Twice {
        write(&mut stream, given.status, &given.headers, &given.body).await?;
    }
    Ok(())
}

/// What is asked about the provider, not of it.
fn control(request: &Request, books: &Shared) -> Option<(u16, String)> {
    let told = |what: &str| Some((200, what.to_owned()));
    match (request.method.as_str(), request.asked.path.as_str()) {
        ("POST", "/behave") => match serde_json::from_slice::<Behave>(&request.asked.body) {
            Ok(behave) => {
                lock(books).behave(behave);
                told("{}")
            }
            Err(error) => Some((400, Value::from(error.to_string()).to_string())),
        },
        ("GET", "/ledger") => told(&serde_json::to_string(&lock(books).ledger).unwrap_or_default()),
        ("POST", "/reset") => {
            *lock(books) = Books::default();
            told("{}")
        }
        _ => None,
    }
}

/// `None` when it is no request, or too large a one.
async fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_REQUEST || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let mut body = bytes.split_off(head_end + 4);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = first.next().unwrap_or_default().to_owned();
    let mut asked = Asked { path: first.next().unwrap_or_default().to_owned(), ..Asked::default() };
    let mut length = 0;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        match name.to_ascii_lowercase().as_str() {
            "idempotency-key" => asked.key = Some(value.trim().to_owned()),
            "authorization" => asked.authorized = true,
            "content-length" => length = value.trim().parse().unwrap_or(MAX_REQUEST + 1),
            _ => {}
        }
    }
    if length > MAX_REQUEST {
        return Ok(None);
    }
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    asked.body = body;
    Ok(Some(Request { method, asked }))
}

async fn write(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&'static str, String)],
    body: &str,
) -> io::Result<()> {
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.flush().await
}
