use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// Headers that one request may have.
const MAX_HEADERS: usize = 64;
/// Bytes that one request may have. Lambda takes answers of 6 MB; DynamoDB takes 16 MB.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// One request, read as a whole.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: String,
    pub(crate) path: String,
    /// `X-Amz-Target`; empty without one.
    pub(crate) target: String,
    pub(crate) body: &'a [u8],
    /// Bytes on the wire, head included.
    pub(crate) bytes: usize,
}

/// What a head says.
struct Head {
    method: String,
    path: String,
    target: String,
    length: usize,
    is_chunked: bool,
    waits: bool,
    bytes: usize,
}

/// Reads request after request from one connection.
pub(super) struct Reader {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are read.
    filled: usize,
    /// Of those, bytes of the request before.
    used: usize,
    /// A body that came in chunks, put together.
    body: Vec<u8>,
}

impl Reader {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: vec![0; 64 * 1024], filled: 0, used: 0, body: Vec::new() }
    }

    /// The next request; `None` when the client has hung up.
    ///
    /// # Errors
    /// When the connection breaks, or what comes is no HTTP.
    pub(super) fn next(&mut self) -> io::Result<Option<Request<'_>>> {
        self.buffer.copy_within(self.used..self.filled, 0);
        self.filled -= self.used;
        self.used = 0;
        let head = loop {
            if let Some(head) = parse(self.read())? {
                break head;
            }
            if !self.more()? {
                return Ok(None);
            }
        };
        if head.waits {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if head.is_chunked {
            self.chunks(head.bytes)?;
        } else {
            self.used = head.bytes + head.length;
            while self.filled < self.used {
                self.must_have_more()?;
            }
        }
        let Head { method, path, target, .. } = head;
        let plain = self.buffer.get(head.bytes..self.used).unwrap_or_default();
        let body = if head.is_chunked { &self.body } else { plain };
        Ok(Some(Request { method, path, target, body, bytes: self.used }))
    }

    fn read(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }

    /// Puts the chunks that start at `at` together.
    fn chunks(&mut self, mut at: usize) -> io::Result<()> {
        self.body.clear();
        loop {
            let rest = self.read().get(at..).unwrap_or_default();
            let (head, length) = match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((head, length))) => {
                    (head, usize::try_from(length).unwrap_or(MAX_BYTES))
                }
                Ok(httparse::Status::Partial) => {
                    self.must_have_more()?;
                    continue;
                }
                Err(_) => return Err(ErrorKind::InvalidData.into()),
            };
            // CR LF follow the data; of trailers nobody here knows any.
            let end = at + head + length + 2;
            while self.filled < end {
                self.must_have_more()?;
            }
            self.body.extend_from_slice(self.buffer.get(at + head..end - 2).unwrap_or_default());
            at = end;
            if length == 0 {
                self.used = end;
                return Ok(());
            }
        }
    }

    fn must_have_more(&mut self) -> io::Result<()> {
        if self.more()? { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads what there is; false at the end.
    fn more(&mut self) -> io::Result<bool> {
        if self.filled == self.buffer.len() {
            if self.filled >= MAX_BYTES {
                return Err(ErrorKind::InvalidData.into());
            }
            self.buffer.resize(self.filled * 2, 0);
        }
        let read = self.stream.read(self.buffer.get_mut(self.filled..).unwrap_or_default())?;
        self.filled += read;
        Ok(read > 0)
    }
}

/// `None` while it is not complete.
fn parse(bytes: &[u8]) -> io::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let bytes = match request.parse(bytes) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(ErrorKind::InvalidData.into()),
    };
    let mut head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: request.path.unwrap_or_default().to_owned(),
        target: String::new(),
        length: 0,
        is_chunked: false,
        waits: false,
        bytes,
    };
    for header in request.headers {
        let value = std::str::from_utf8(header.value).unwrap_or_default();
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            head.length = value.parse().map_err(|_| ErrorKind::InvalidData)?;
        } else if is("transfer-encoding") {
            head.is_chunked = value.eq_ignore_ascii_case("chunked");
        } else if is("expect") {
            head.waits = value.eq_ignore_ascii_case("100-continue");
        } else if is("x-amz-target") {
            value.clone_into(&mut head.target);
        }
    }
    Ok(Some(head))
}
