//! Which records share a transaction.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};

use crate::outbox::limits;
use crate::store::Item;

/// Packs that are still open for more records; older ones are closed, so that planning stays linear.
const OPEN: usize = 8;

/// What a record's transaction takes up in a shared one.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    actions: usize,
    bytes: usize,
    items: Vec<Identity>,
}

impl Footprint {
    pub(super) fn of(actions: &[TransactWriteItem]) -> Self {
        Self {
            actions: actions.len(),
            bytes: actions.iter().map(limits::action_bytes).sum(),
            items: actions.iter().filter_map(identity).collect(),
        }
    }
}

/// Equal for the same item. Two items that are taken for one are only put into two packs.
type Identity = u64;

struct Pack<M> {
    actions: usize,
    bytes: usize,
    items: HashSet<Identity>,
    members: Vec<M>,
}

/// Puts each record into the first open pack that has room and shares no item with it. A record is never parted.
///
/// The item of a put is told by its table and all its attributes: the key's names are not known here. Where that is
/// mistaken, DynamoDB refuses the pack as a whole, and its records are committed singly.
pub(super) fn plan<M>(records: impl Iterator<Item = (Footprint, M)>) -> Vec<Vec<M>> {
    let mut closed = Vec::new();
    let mut open: Vec<Pack<M>> = Vec::new();
    for (footprint, member) in records {
        let fits = open.iter_mut().find(|pack| {
            pack.actions + footprint.actions <= limits::MAX_ACTIONS
                && pack.bytes + footprint.bytes <= limits::MAX_TRANSACTION_BYTES
                && footprint.items.iter().all(|item| !pack.items.contains(item))
        });
        match fits {
            Some(pack) => {
                pack.actions += footprint.actions;
                pack.bytes += footprint.bytes;
                pack.items.extend(footprint.items);
                pack.members.push(member);
            }
            None => {
                if open.len() == OPEN {
                    closed.push(open.remove(0).members);
                }
                open.push(Pack {
                    actions: footprint.actions,
                    bytes: footprint.bytes,
                    items: footprint.items.into_iter().collect(),
                    members: vec![member],
                });
            }
        }
    }
    closed.extend(open.into_iter().map(|pack| pack.members));
    closed
}

/// The item that an action touches, as far as it can be told.
fn identity(action: &TransactWriteItem) -> Option<Identity> {
    let keyed = None
        .or_else(|| action.put.as_ref().map(|put| (&put.table_name, &put.item)))
        .or_else(|| action.update.as_ref().map(|update| (&update.table_name, &update.key)))
        .or_else(|| action.delete.as_ref().map(|delete| (&delete.table_name, &delete.key)))
        .or_else(|| action.condition_check.as_ref().map(|check| (&check.table_name, &check.key)));
    keyed.map(|(table, key)| hash(table, key))
}

/// A sum, since an item's attributes have no order.
fn hash(table: &str, item: &Item) -> Identity {
    let attributes = item.iter().map(|attribute| hash_of(|hasher| hash_attribute(attribute, hasher)));
    attributes.fold(hash_of(|hasher| table.hash(hasher)), Identity::wrapping_add)
}

fn hash_attribute((name, value): (&String, &AttributeValue), hasher: &mut DefaultHasher) {
    name.hash(hasher);
    match value {
        AttributeValue::S(text) => text.hash(hasher),
        AttributeValue::N(number) => number.hash(hasher),
        AttributeValue::B(blob) => blob.as_ref().hash(hasher),
        // No key has another type. What is left out of a put's item makes two of them alike at worst.
        _ => {}
    }
}

fn hash_of(part: impl Fn(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    part(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record whose actions are on these items, each of so many bytes.
    fn footprint(items: &[u32], bytes: usize) -> Footprint {
        Footprint { actions: items.len(), bytes, items: items.iter().copied().map(Identity::from).collect() }
    }

    #[test]
    fn packs_are_within_the_limits_and_disjoint_and_nobody_is_dropped() {
        for seed in 0..2000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let spread = random.u32(1..400);
            let most = random.usize(1..60);
            let records: Vec<(Vec<u32>, usize)> = (0..random.usize(0..200))
                .map(|_| {
                    let mut items: Vec<u32> =
                        (0..random.usize(1..=most)).map(|_| random.u32(0..spread)).collect();
                    items.sort_unstable();
                    items.dedup();
                    (items, random.usize(0..400_000))
                })
                .collect();
            let footprints =
                records.iter().enumerate().map(|(at, (items, bytes))| (footprint(items, *bytes), at));
            let packs = plan(footprints);
            for pack in &packs {
                let members = || pack.iter().map(|at| &records[*at]);
                let items: Vec<u32> = members().flat_map(|(items, _)| items.iter().copied()).collect();
                assert!(items.len() <= 100 && !items.is_empty(), "seed {seed}");
                assert!(members().map(|(_, bytes)| bytes).sum::<usize>() <= 4 * 1024 * 1024, "seed {seed}");
                assert_eq!(items.iter().collect::<HashSet<_>>().len(), items.len(), "seed {seed}");
                assert!(pack.is_sorted(), "in the order of the batch, seed {seed}");
            }
            let mut all: Vec<usize> = packs.into_iter().flatten().collect();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..records.len()), "seed {seed}");
        }
    }

    #[test]
    fn a_record_at_the_limit_is_a_pack_of_its_own() {
        let full: Vec<u32> = (0..100).collect();
        let large = footprint(&[200], limits::MAX_TRANSACTION_BYTES);
        let small = || footprint(&[300], 1);
        let packs = plan([(footprint(&full, 100), 'a'), (large, 'b'), (small(), 'c')].into_iter());
        assert_eq!(packs, [vec!['a'], vec!['b'], vec!['c']]);
    }

    #[test]
    fn ten_thousand_records_on_one_item_are_planned_in_no_time() {
        let packs = plan((0..10_000).map(|at| (footprint(&[1], 10), at)));
        assert_eq!(packs.len(), 10_000);
    }
}
