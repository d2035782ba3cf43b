use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::Client as Dynamo;
use aws_sdk_sqs::Client as Sqs;
use oncebox::store::Item;
use serde_json::{Value, json};

use crate::{dynamo_client, sqs_client};

/// The whole system on an emulator of its own: `infra/local/up.py` starts it, and it ends with the value.
#[derive(Debug)]
pub struct Stack {
    process: Child,
    /// Closed to stop it.
    stdin: Option<ChildStdin>,
    names: Value,
    http: reqwest::Client,
    /// Its DynamoDB.
    pub dynamo: Dynamo,
    /// Its SQS.
    pub sqs: Sqs,
}

impl Stack {
    /// Starts it with the functions that were built beside this test. `arguments` go to `up.py`.
    ///
    /// # Errors
    /// When `up.py` ends without the line that says where everything is; it has said why on standard error.
    pub fn start(arguments: &[&str]) -> io::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        let mut process = Command::new("python3")
            .arg(root.join("infra/local/up.py"))
            .arg("--binaries")
            .arg(built())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().ok_or_else(|| io::Error::other("up.py has no output"))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let names: Value = serde_json::from_str(&line).map_err(|_| {
            let _ = process.kill();
            io::Error::other("up.py ended before the stack was up")
        })?;
        let text = |name: &str| names.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (endpoint, account) = (text("endpoint"), text("access_key_id"));
        let region = text("region");
        let here = aws_sdk_dynamodb::config::Region::new(region.clone());
        let config = dynamo_client(&endpoint, &account).config().to_builder().region(here).build();
        let dynamo = Dynamo::from_conf(config);
        let sqs = sqs_client(&endpoint, &account, &region);
        Ok(Self { process, stdin, names, http: reqwest::Client::new(), dynamo, sqs })
    }

    /// A name out of `up.py`'s line, such as `["tables", "accounts"]`.
    #[must_use]
    pub fn name(&self, path: [&str; 2]) -> &str {
        self.names.pointer(&format!("/{}/{}", path[0], path[1])).and_then(Value::as_str).unwrap_or_default()
    }

    /// Invokes a function and answers its payload.
    ///
    /// # Errors
    /// When the emulator cannot be reached, or answers no JSON.
    pub async fn invoke(&self, function: &str, payload: &Value) -> Result<Value, reqwest::Error> {
        let endpoint = self.names.get("endpoint").and_then(Value::as_str).unwrap_or_default();
        let url = format!("{endpoint}/2015-03-31/functions/{function}/invocations");
        let body = payload.to_string();
        let answer = self.http.post(url).body(body).timeout(Duration::from_secs(60)).send().await?;
        answer.json().await
    }

    /// Switches the event source mappings of a function on or off.
    ///
    /// # Errors
    /// When the emulator cannot be reached, or answers no JSON.
    pub async fn switch_mappings(&self, function: &str, enabled: bool) -> Result<(), reqwest::Error> {
        let endpoint = self.names.get("endpoint").and_then(Value::as_str).unwrap_or_default();
        let all = format!("{endpoint}/2015-03-31/event-source-mappings");
        let list = self.http.get(format!("{all}/?FunctionName={function}")).send().await?;
        let list: Value = list.error_for_status()?.json().await?;
        for mapping in list.get("EventSourceMappings").and_then(Value::as_array).into_iter().flatten() {
            let id = mapping.get("UUID").and_then(Value::as_str).unwrap_or_default();
            let change = json!({ "Enabled": enabled });
            self.http.put(format!("{all}/{id}")).json(&change).send().await?.error_for_status()?;
        }
        Ok(())
    }

    /// `POST /orders`, as API Gateway hands it over; answers status and body.
    ///
    /// # Errors
    /// As [`invoke`](Self::invoke).
    pub async fn post_order(&self, order: &Value) -> Result<(u64, Value), reqwest::Error> {
        let answer = self.invoke("order-api", &http_event("POST", "/orders", &order.to_string())).await?;
        let status = answer.get("statusCode").and_then(Value::as_u64).unwrap_or_default();
        let body =
            answer.get("body").and_then(Value::as_str).and_then(|body| serde_json::from_str(body).ok());
        Ok((status, body.unwrap_or_default()))
    }

    /// One item, read consistently.
    pub async fn item(&self, table: &str, key: Item) -> Option<Item> {
        let table = self.name(["tables", table]);
        let read = self.dynamo.get_item().table_name(table).set_key(Some(key)).consistent_read(true);
        read.send().await.ok().and_then(|answer| answer.item)
    }

    /// All items of a table; enough for a test's few.
    pub async fn items(&self, table: &str) -> Vec<Item> {
        let scan = self.dynamo.scan().table_name(self.name(["tables", table])).consistent_read(true);
        scan.send().await.ok().and_then(|answer| answer.items).unwrap_or_default()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The folder with the functions that were built together with this test.
#[must_use]
pub fn built() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// An API Gateway v2 request.
#[must_use]
pub fn http_event(method: &str, path: &str, body: &str) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": { "content-type": "application/json", "host": "localhost" },
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "api",
            "domainName": "localhost",
            "domainPrefix": "localhost",
            "http": {
                "method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "test"
            },
            "requestId": "request",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1_796_040_000_000_u64
        },
        "body": body,
        "isBase64Encoded": false
    })
}

/// Asks `probe` until it has an answer.
///
/// # Errors
/// After `limit`, saying what was waited for.
pub async fn wait_for<T, F: Future<Output = Option<T>>>(
    what: &str,
    limit: Duration,
    mut probe: impl FnMut() -> F,
) -> Result<T, String> {
    let began = Instant::now();
    loop {
        if let Some(found) = probe().await {
            return Ok(found);
        }
        if began.elapsed() > limit {
            return Err(format!("waited {limit:?} for {what}"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
