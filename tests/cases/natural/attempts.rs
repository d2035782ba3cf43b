//! A single conditional write is one attempt on the wire, whatever the client is configured for.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::types::{Put, Update};
use oncebox::store::{DynamoStore, Store, WriteError};
use oncebox::testing::{item, number, text};
use oncebox_tests::dynamo_client;

/// An endpoint that fails every request, and how many there were.
fn failing_endpoint() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            fail(stream);
        }
    });
    (endpoint, requests)
}

fn fail(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !is_complete(&request) {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend_from_slice(&buffer[..length]),
        }
    }
    let _ = stream
        .write_all(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}

#[tokio::test]
async fn a_single_write_leaves_retries_to_the_engine() {
    let (endpoint, requests) = failing_endpoint();
    let retrying =
        RetryConfig::standard().with_max_attempts(3).with_initial_backoff(Duration::from_millis(1));
    let config =
        dynamo_client(&endpoint, "000000000001").config().to_builder().retry_config(retrying).build();
    let store = DynamoStore::new(aws_sdk_dynamodb::Client::from_conf(config));
    let sent = || requests.swap(0, Ordering::SeqCst);

    let put = Put::builder().table_name("things").item("id", text("1")).build().unwrap();
    assert!(matches!(store.put(put).await, Err(WriteError::Unconfirmed { .. })));
    assert_eq!(sent(), 1);

    let update = Update::builder().table_name("things").key("id", text("1")).update_expression("SET a = :a");
    let update = update.expression_attribute_values(":a", number(1)).build().unwrap();
    assert!(matches!(store.update(update).await, Err(WriteError::Unconfirmed { .. })));
    assert_eq!(sent(), 1);

    assert!(store.get("things", item([("id", text("1"))])).await.is_err());
    assert_eq!(sent(), 3, "a read may be tried again by the SDK");
}
