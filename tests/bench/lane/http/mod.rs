//! A small HTTP/1.1 server: one thread per connection, one write per answer. It shares the machine with the process that is
//! measured, so it hands nothing from thread to thread and lets the kernel delay nothing.

mod read;

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

pub(crate) use read::Request;

/// Answers requests; called from many threads at once.
pub(crate) trait Service: Send + Sync + 'static {
    /// The answer to one request. May wait.
    fn answer(&self, request: &Request<'_>) -> Response;

    /// A client has connected.
    fn connected(&self) {}
}

/// An answer, head and body as they go out.
pub(crate) struct Response(Vec<u8>);

impl Response {
    /// `headers` come as lines, each with its CR LF.
    pub(crate) fn new(status: u16, headers: &str, body: &[u8]) -> Self {
        let reason = if status < 300 { "OK" } else { "Refused" };
        let length = body.len();
        let mut bytes = Vec::with_capacity(128 + headers.len() + length);
        bytes.extend_from_slice(
            format!("HTTP/1.1 {status} {reason}\r\n{headers}content-length: {length}\r\n\r\n").as_bytes(),
        );
        bytes.extend_from_slice(body);
        Self(bytes)
    }

    /// Bytes on the wire.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Serves on a free port of 127.0.0.1 until the program ends; answers the port.
///
/// # Errors
/// When there is no free port.
pub(crate) fn serve<S: Service>(service: Arc<S>) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let service = Arc::clone(&service);
            // A connection that breaks is the client's to mend.
            thread::spawn(move || converse(stream, service.as_ref()));
        }
    });
    Ok(port)
}

fn converse(mut stream: TcpStream, service: &impl Service) -> io::Result<()> {
    stream.set_nodelay(true)?;
    service.connected();
    let mut reader = read::Reader::new(stream.try_clone()?);
    while let Some(request) = reader.next()? {
        stream.write_all(&service.answer(&request).0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    struct Echo;

    impl Service for Echo {
        fn answer(&self, request: &Request<'_>) -> Response {
            let text = format!("{} {} ", request.method, request.path);
            Response::new(200, "", &[text.as_bytes(), request.body].concat())
        }
    }

    fn say(parts: &[&str]) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, serve(Arc::new(Echo)).unwrap())).unwrap();
        for part in parts {
            stream.write_all(part.as_bytes()).unwrap();
            thread::sleep(std::time::Duration::from_millis(5));
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        all
    }

    #[test]
    fn requests_follow_each_other_on_one_connection_however_they_are_cut() {
        let all =
            say(&["POST /a HTTP/1.1\r\nContent-Le", "ngth: 4\r\n\r\nab", "cdGET /b HTTP/1.1\r\n", "\r\n"]);
        assert!(all.contains("\r\n\r\nPOST /a abcd"), "{all}");
        assert!(all.ends_with("\r\n\r\nGET /b "), "{all}");
    }

    #[test]
    fn chunks_are_put_together() {
        let all = say(&[
            "POST /c HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1",
            "1\r\n0123456789abcdefg\r\n0\r\n\r\nGET /d HTTP/1.1\r\n\r\n",
        ]);
        assert!(all.contains("\r\n\r\nPOST /c abc0123456789abcdefg"), "{all}");
        assert!(all.ends_with("GET /d "), "{all}");
    }

    #[test]
    fn who_waits_for_leave_to_send_gets_it() {
        let all = say(&["POST /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", "ok"]);
        assert!(all.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"), "{all}");
        assert!(all.ends_with("POST /e ok"), "{all}");
    }
}
