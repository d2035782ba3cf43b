//! Stores and providers, in memory on paused time, or an emulator and HTTP on the machine's.

use std::sync::Arc;
use std::time::Duration;

use oncebox::consumer::Consumer;
use oncebox::effect::remote::{HttpTransport, Transport};
use oncebox::store::{DynamoStore, Store};
use oncebox::testing::{MemoryStore, SqsBatch, TestClock};
use oncebox::time::{Clock, Deadline};
use oncebox_tests::{
    Behave, Dynoxide, Ledger, MemoryProvider, ProviderStandIn, TableSpec, create_table, dynamo_client,
};

use crate::bench::{self, App, Mode, TABLES};
use crate::mortal::{Fate, MortalStore, MortalTransport};

/// Tables that outlive processes.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    /// Opened once, as a function does; in memory there is none.
    http: Option<HttpTransport>,
    _emulator: Option<Dynoxide>,
}

pub(crate) enum Provider {
    Memory(MemoryProvider),
    Http(ProviderStandIn),
}

impl World {
    pub(crate) fn in_memory() -> Self {
        let mut memory = MemoryStore::new();
        for (table, pk, sk) in TABLES {
            memory = memory.table(table, pk, sk);
        }
        Self { store: Arc::new(memory), http: None, _emulator: None }
    }

    pub(crate) async fn on_emulator() -> Self {
        let emulator = Dynoxide::start().unwrap();
        let client = dynamo_client(&emulator.endpoint(), "test");
        for (name, partition_key, sort_key) in TABLES {
            create_table(&client, TableSpec { name, partition_key, sort_key, index: None }).await.unwrap();
        }
        Self {
            store: Arc::new(DynamoStore::new(client)),
            http: Some(HttpTransport::new().unwrap()),
            _emulator: Some(emulator),
        }
    }

    pub(crate) fn provider(&self) -> Provider {
        if self.http.is_some() {
            Provider::Http(ProviderStandIn::start().unwrap())
        } else {
            Provider::Memory(MemoryProvider::default())
        }
    }

    /// How long a call may take: no longer than a test should wait.
    pub(crate) fn patience(&self) -> Duration {
        if self.http.is_some() { Duration::from_millis(400) } else { Duration::from_secs(5) }
    }
}

impl Provider {
    pub(crate) fn behave(&self, behave: Behave) {
        match self {
            Self::Memory(provider) => provider.behave(behave),
            Self::Http(provider) => provider.behave(behave),
        }
    }

    pub(crate) fn ledger(&self) -> Ledger {
        match self {
            Self::Memory(provider) => provider.ledger(),
            Self::Http(provider) => provider.ledger(),
        }
    }

    fn url(&self) -> String {
        match self {
            Self::Memory(_) => "https://pay.test".to_owned(),
            Self::Http(provider) => provider.url(),
        }
    }
}

/// One event among its deliveries.
pub(crate) struct Life<'a> {
    pub(crate) world: &'a World,
    pub(crate) provider: Provider,
    pub(crate) fate: Fate,
    pub(crate) clock: TestClock,
    pub(crate) number: usize,
    app: App,
}

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Acknowledged,
    Listed,
    Died,
}

impl<'a> Life<'a> {
    pub(crate) fn new(world: &'a World, number: usize, mode: Mode) -> Self {
        let provider = world.provider();
        let app = App { mode, url: provider.url(), timeout: world.patience(), runs: Arc::default() };
        Self { world, provider, fate: Fate::default(), clock: TestClock::default(), number, app }
    }

    /// With a provider that may take its time.
    pub(crate) fn patient(world: &'a World, number: usize, mode: Mode) -> Self {
        let mut life = Self::new(world, number, mode);
        life.app.timeout = Duration::from_secs(5);
        life
    }

    /// A process: it has nothing in common with another one but the tables and the provider.
    fn process(&self) -> Consumer<App> {
        let store: Arc<dyn Store> =
            Arc::new(MortalStore { inner: Arc::clone(&self.world.store), fate: self.fate.clone() });
        let inner: Arc<dyn Transport> = match (&self.provider, &self.world.http) {
            (Provider::Memory(provider), _) => Arc::new(provider.clone()),
            (Provider::Http(_), http) => Arc::new(http.clone().unwrap()),
        };
        let transport = Arc::new(MortalTransport { inner, fate: self.fate.clone() });
        bench::consumer(&store, transport, Arc::new(self.clock.clone()), self.app.clone(), |consumer| {
            consumer.with_time(Arc::new(self.clock.clone()), Arc::new(oncebox::time::RandomIds))
        })
    }

    pub(crate) async fn deliver(&self, received: u32) -> End {
        let process = self.process();
        let batch = SqsBatch::standard("q").received("m", &bench::body(self.number), received).to_json();
        let deadline = Deadline::after(self.clock.now(), Duration::from_secs(10));
        tokio::select! {
            biased;
            () = self.fate.death() => End::Died,
            answer = process.handle(&batch, deadline) => match answer.unwrap().batch_item_failures.len() {
                0 => End::Acknowledged,
                _ => End::Listed,
            },
        }
    }

    /// Lets the lease of whoever died pass.
    pub(crate) fn later(&self) {
        self.clock.advance(Duration::from_secs(30));
    }
}
