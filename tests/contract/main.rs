//! One suite over every store: what the crate relies on in DynamoDB, asked of the in-memory twin and of two
//! emulators through the real store.
//!
//! Where an emulator is known to answer otherwise than AWS documents, the test says so and asserts the wrong
//! answer, so that a corrected emulator is noticed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of it is test code"
)]

mod actions;
mod expressions;
mod limits;
mod pages;
mod single;
mod subject;
mod tokens;
mod transactions;

macro_rules! contract {
    ($($group:ident { $($name:ident,)+ })+) => {
        contract!(@on memory $($group { $($name,)+ })+);
        contract!(@on dynoxide $($group { $($name,)+ })+);
        contract!(@on ministack $($group { $($name,)+ })+);
    };
    (@on $store:ident $($group:ident { $($name:ident,)+ })+) => {
        mod $store {
            $(mod $group {
                $(#[tokio::test]
                async fn $name() {
                    crate::$group::$name(&crate::subject::$store().await).await;
                })+
            })+
        }
    };
}

contract! {
    transactions {
        a_failed_condition_is_named_at_its_position,
        every_failed_condition_is_named,
        the_old_item_comes_only_where_it_was_asked_for,
        an_absent_item_fails_without_an_item,
        nothing_is_written_when_one_action_fails,
        a_condition_check_writes_nothing,
        a_put_replaces_the_whole_item,
        a_delete_of_nothing_succeeds,
        two_actions_on_one_item_are_refused,
        a_wrong_type_is_a_validation_error_at_its_position,
        a_false_condition_wins_over_a_wrong_type,
        a_key_that_does_not_fit_is_a_validation_error_at_its_position,
        a_key_attribute_cannot_be_updated,
        an_empty_key_is_refused,
        an_unknown_table_is_not_the_events_fault,
    }
    tokens {
        a_replay_has_no_effect,
        a_replay_does_not_bring_back_what_was_deleted,
        a_token_with_another_request_is_refused,
        a_cancelled_token_may_be_tried_again,
        a_token_is_at_most_36_characters,
    }
    single {
        a_read_sees_the_write_before_it,
        a_read_of_nothing_is_none,
        a_read_of_an_unknown_table_fails,
        a_read_with_another_key_fails,
        a_put_creates_what_is_absent,
        a_put_replaces_what_is_there,
        a_put_with_a_false_condition_answers_the_old_item,
        a_put_on_a_condition_that_nothing_meets_fails_without_an_item,
        an_invalid_put_is_refused,
        an_update_creates_what_is_absent,
        an_update_with_a_false_condition_answers_the_old_item,
        an_update_of_nothing_fails_without_an_item,
        an_invalid_update_is_refused,
        a_batch_deletes_present_and_absent_keys,
        a_batch_takes_25_keys,
        a_batch_takes_a_key_once,
    }
    pages {
        an_empty_table_has_one_empty_page,
        a_query_answers_one_partition_in_order,
        an_index_holds_what_has_its_key_in_the_order_of_numbers,
        pages_have_no_hole_and_nothing_twice,
        a_page_starts_behind_any_key,
        an_unknown_index_fails,
        a_query_by_another_attribute_fails,
    }
    limits {
        a_transaction_takes_100_actions,
        a_transaction_takes_one_action_at_least,
        an_item_takes_400_kb,
        an_update_may_not_grow_an_item_past_400_kb,
        a_transaction_takes_4_mb,
    }
    expressions {
        conditions_agree,
        updates_agree,
    }
}
