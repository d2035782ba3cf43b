//! The real transport against real sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::Consumer;
use oncebox::effect::remote::{HttpTransport, OnUnknown};
use oncebox::quarantine::Reason;
use oncebox::store::Store;
use oncebox::testing::{MemoryStore, SqsBatch, TestClock};
use oncebox::time::{Clock, Deadline};
use oncebox_tests::{Behave, Behaviour, Ledger, ProviderStandIn};

use crate::bench::{self, App, Mode, SECRET, TABLES, cases, payment, rows};

struct Bench {
    store: Arc<dyn Store>,
    clock: TestClock,
    consumer: Consumer<App>,
}

impl Bench {
    fn new(mode: Mode, url: String) -> Self {
        let mut memory = MemoryStore::new();
        for (table, pk, sk) in TABLES {
            memory = memory.table(table, pk, sk);
        }
        let store: Arc<dyn Store> = Arc::new(memory);
        let clock = TestClock::default();
        let app = App { mode, url, timeout: Duration::from_millis(500), runs: Arc::default() };
        let transport = Arc::new(HttpTransport::new().unwrap());
        let consumer = bench::consumer(&store, transport, Arc::new(clock.clone()), app, |consumer| consumer);
        Self { store, clock, consumer }
    }

    async fn deliver(&self) -> bool {
        let batch = SqsBatch::standard("q").record("m", &bench::body(1)).to_json();
        let deadline = Deadline::after(self.clock.now(), Duration::from_secs(10));
        !self.consumer.handle(&batch, deadline).await.unwrap().batch_item_failures.is_empty()
    }
}

#[tokio::test]
async fn a_refused_connection_is_definitely_not_done() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for mode in [Mode::Keyed, Mode::Unkeyed(OnUnknown::Quarantine), Mode::Unkeyed(OnUnknown::CallAgain)] {
        let bench = Bench::new(mode, format!("http://127.0.0.1:{port}"));
        assert!(bench.deliver().await, "{mode:?}");
        assert_eq!(rows(&bench.store, "remote").await.len(), 0, "{mode:?}");
        assert_eq!(cases(&bench.store).await.len(), 0, "{mode:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let provider = ProviderStandIn::start().unwrap();
    let bench = Bench::new(Mode::Keyed, provider.url());
    provider.behave(Behave::next([Behaviour::Refuse { status: 307, retry_after: None }]));
    assert!(!bench.deliver().await);
    assert!(cases(&bench.store).await[0].detail.contains("307"));
    assert_eq!(provider.ledger().requests.len(), 1);
}

#[tokio::test]
async fn no_url_body_or_secret_is_in_a_case() {
    let provider = ProviderStandIn::start().unwrap();
    let bench = Bench::new(Mode::Unkeyed(OnUnknown::Quarantine), provider.url());
    provider.behave(Behave::next([Behaviour::Cut { work: true }]));
    assert!(!bench.deliver().await);
    let case = &cases(&bench.store).await[0];
    for text in ["127.0.0.1", "captures", SECRET] {
        assert!(!case.detail.contains(text), "{}", case.detail);
    }
    assert_eq!(payment(&bench.store, 1).await, None);
}

/// Answers each connection with `head`, then with what `body` says, as long as it is heard.
fn answering(head: &'static str, body: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming().take(1) {
            let mut connection = connection.unwrap();
            let mut request = [0; 8192];
            assert!(connection.read(&mut request).unwrap() > 0);
            connection.write_all(head.as_bytes()).unwrap();
            body(&mut connection);
        }
    });
    url
}

/// What was said before it was cut may be the whole truth or not: a proxy, or a server that fails in the middle, has sent
/// its 200 as well.
#[tokio::test]
async fn an_answer_of_which_the_end_is_missing_is_no_answer() {
    let cut: fn(&mut TcpStream) = |connection| drop(connection.write_all(b"{\"id\":"));
    let drips: fn(&mut TcpStream) = |connection| {
        while connection.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n";
    for ends in [cut, drips] {
        let bench = Bench::new(Mode::Keyed, answering(head, ends));
        assert!(bench.deliver().await, "the same key and bytes again");
        assert_eq!((rows(&bench.store, "remote").await.len(), cases(&bench.store).await.len()), (1, 0));
        let bench = Bench::new(Mode::Unkeyed(OnUnknown::CallAgain), answering(head, ends));
        assert!(bench.deliver().await, "called again");
        let bench = Bench::new(Mode::Unkeyed(OnUnknown::Quarantine), answering(head, ends));
        assert!(!bench.deliver().await);
        let case = &cases(&bench.store).await[0];
        assert_eq!(case.reason, Reason::Unknown);
        assert!(case.detail.contains("did not answer"), "{}", case.detail);
        assert_eq!(payment(&bench.store, 1).await, None);
    }
}

/// A body without end is an answer: all that is wanted of it has been read.
#[tokio::test]
async fn an_answer_without_end_is_cut_and_does_not_hold_the_invocation() {
    let floods = |connection: &mut TcpStream| while connection.write_all(&[b'x'; 8192]).is_ok() {};
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9000000000\r\n\r\n"] {
        let bench = Bench::new(Mode::Unkeyed(OnUnknown::Quarantine), answering(head, floods));
        let started = std::time::Instant::now();
        assert!(!bench.deliver().await);
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!((rows(&bench.store, "remote").await.len(), cases(&bench.store).await.len()), (0, 0));
        assert!(payment(&bench.store, 1).await.is_some());
    }
}

/// The stand-in is told how to behave, and asked what it did, over HTTP too.
#[tokio::test]
async fn the_provider_stand_in_obeys_over_http() {
    let provider = ProviderStandIn::start().unwrap();
    let client = reqwest::Client::new();
    let url = |path: &str| format!("{}{path}", provider.url());
    let call =
        |body: &'static str| client.post(url("/captures")).header("idempotency-key", "k").body(body).send();
    let behave = r#"{"next":[{"do":"refuse","status":429,"retry_after":7},{"do":"ok"}]}"#;
    assert_eq!(client.post(url("/behave")).body(behave).send().await.unwrap().status(), 200);
    assert_eq!(client.post(url("/behave")).body(r#"{"nxt":[]}"#).send().await.unwrap().status(), 400);
    let refused = call("a").await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    let first = call("a").await.unwrap().text().await.unwrap();
    assert_eq!(call("a").await.unwrap().text().await.unwrap(), first);
    assert_eq!(call("b").await.unwrap().status(), 422);
    let ledger: Ledger = client.get(url("/ledger")).send().await.unwrap().json().await.unwrap();
    assert_eq!((ledger.done, ledger.requests.len()), (1, 4));
    assert_eq!(ledger, provider.ledger());
    client.post(url("/behave")).body(r#"{"honour_keys":false}"#).send().await.unwrap();
    call("a").await.unwrap();
    assert_eq!(provider.ledger().done, 2);
    client.post(url("/reset")).send().await.unwrap();
    assert_eq!(provider.ledger(), Ledger::default());
}
