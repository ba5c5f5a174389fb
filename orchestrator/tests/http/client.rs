//! A client that shows every byte: HTTP/1.1 over a plain socket.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A request to be sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Sent in chunks of this size instead of with Content-Length.
    pub chunk_bytes: Option<usize>,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Request {
        Request {
            method: method.into(),
            path: path.into(),
            headers: Vec::new(),
            body: Vec::new(),
            chunk_bytes: None,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self
    }

    pub fn json(self, value: &serde_json::Value) -> Request {
        self.header("content-type", "application/json").body(value.to_string())
    }

    pub fn chunked(mut self, chunk_bytes: usize) -> Request {
        self.chunk_bytes = Some(chunk_bytes);
        self
    }

    /// The header as it goes over the wire, to its empty line.
    pub fn head(&self) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: isoframe.test\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if self.chunk_bytes.is_some() {
            head += "transfer-encoding: chunked\r\n";
        } else if !self.body.is_empty() || self.method == "POST" {
            head += &format!("content-length: {}\r\n", self.body.len());
        }
        head + "\r\n"
    }

    fn wire_body(&self) -> Vec<u8> {
        let Some(chunk_bytes) = self.chunk_bytes else { return self.body.clone() };
        let mut wire = Vec::new();
        for chunk in self.body.chunks(chunk_bytes) {
            wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            wire.extend_from_slice(chunk);
            wire.extend_from_slice(b"\r\n");
        }
        wire.extend_from_slice(b"0\r\n\r\n");
        wire
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header's value; all of them joined where there are several.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<_> =
            self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Fails unless the status is this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// Fails unless it is a whole problem of this code.
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> serde_json::Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type").as_deref(), Some("application/problem+json"));
        let problem = self.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["type"], format!("/problems/{}", code.replace('_', "-")));
        assert_eq!(problem["status"], status);
        let id = self.header("x-request-id").expect("an id");
        assert_eq!(problem["instance"], format!("urn:isoframe:request:{id}"));
        problem
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connects");
    stream.set_nodelay(true).expect("set");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
    stream.set_write_timeout(Some(Duration::from_secs(60))).expect("set");
    stream
}

/// Sends a request on a connection of its own and reads the answer.
pub fn send(address: SocketAddr, request: Request) -> Answer {
    try_send(address, request).expect("answered")
}

/// The same where the connection may break.
pub fn try_send(address: SocketAddr, request: Request) -> io::Result<Answer> {
    let request = request.header("connection", "close");
    send_on(&mut connect(address), &request)
}

/// Sends a request on a connection that stays.
pub fn send_on(stream: &mut TcpStream, request: &Request) -> io::Result<Answer> {
    stream.write_all(request.head().as_bytes())?;
    // A server that answers early may stop reading: the answer counts, not the rest of the body.
    let written = stream.write_all(&request.wire_body());
    match read_answer(stream, request.method == "HEAD") {
        Ok(answer) => Ok(answer),
        Err(error) => written.and(Err(error)),
    }
}

/// Reads one answer.
pub fn read_answer(stream: &mut TcpStream, head_only: bool) -> io::Result<Answer> {
    let mut reader = Reader { stream, buffer: Vec::new() };
    let head = reader.until(b"\r\n\r\n")?;
    let head = String::from_utf8(head).map_err(io::Error::other)?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status: u16 = status.ok_or_else(|| io::Error::other(format!("no status in {head}")))?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let header = |name: &str| headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let body = if head_only || status < 200 || status == 304 || status == 204 {
        Vec::new()
    } else if header("transfer-encoding") == Some("chunked") {
        reader.chunks()?
    } else if let Some(length) = header("content-length") {
        reader.exactly(length.parse().map_err(io::Error::other)?)?
    } else {
        let mut body = std::mem::take(&mut reader.buffer);
        reader.stream.read_to_end(&mut body)?;
        body
    };
    Ok(Answer { status, headers, body })
}

struct Reader<'a> {
    stream: &'a mut TcpStream,
    buffer: Vec<u8>,
}

impl Reader<'_> {
    fn more(&mut self) -> io::Result<()> {
        let mut chunk = [0; 64 * 1024];
        match self.stream.read(&mut chunk)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.buffer.extend_from_slice(&chunk[..read]);
                Ok(())
            }
        }
    }

    fn until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                let rest = self.buffer.split_off(at + end.len());
                let mut found = std::mem::replace(&mut self.buffer, rest);
                found.truncate(at);
                return Ok(found);
            }
            self.more()?;
        }
    }

    fn exactly(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < bytes {
            self.more()?;
        }
        let rest = self.buffer.split_off(bytes);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n")?;
            let size =
                std::str::from_utf8(&line).ok().and_then(|line| usize::from_str_radix(line.trim(), 16).ok());
            let size = size.ok_or_else(|| io::Error::other("a chunk without a size"))?;
            let chunk = self.exactly(size)?;
            self.until(b"\r\n")?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk);
        }
    }
}
