//! Only the engine commits effects: a handler can neither send them nor look inside.

use oncebox::effect::Effects;
use oncebox::store::Store;
use oncebox_tests::oncebox;

async fn by_hand(effects: Effects, store: &dyn Store) {
    effects.commit(store).await;
    store.transact(effects.actions, "token").await;
}

fn main() {}
