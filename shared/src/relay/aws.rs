use std::collections::HashMap;

use aws_sdk_sns::error::{BuildError, ProvideErrorMetadata};
use aws_sdk_sns::types::{MessageAttributeValue as SnsAttribute, PublishBatchRequestEntry};
use aws_sdk_sqs::types::{MessageAttributeValue as SqsAttribute, SendMessageBatchRequestEntry};
use futures::future::BoxFuture;

use super::{Destination, Kind, Outgoing, PublishError, Publisher};

/// [`Publisher`] over the AWS SDK.
#[derive(Debug, Clone)]
pub struct AwsPublisher {
    sns: aws_sdk_sns::Client,
    sqs: aws_sdk_sqs::Client,
}

/// What a batch answer says of one entry: its positional id, and the failure if it is one.
type Answers = Vec<(String, Result<(), PublishError>)>;

impl AwsPublisher {
    /// Takes configured clients.
    #[must_use]
    pub fn new(sns: aws_sdk_sns::Client, sqs: aws_sdk_sqs::Client) -> Self {
        Self { sns, sqs }
    }

    async fn to_topic(&self, to: &Destination, entries: &[Outgoing]) -> Result<Answers, PublishError> {
        let requests = entries.iter().enumerate().map(|(index, entry)| sns_entry(index, entry, to));
        let requests = requests.collect::<Result<Vec<_>, BuildError>>().map_err(|e| not_built(&e))?;
        let call =
            self.sns.publish_batch().topic_arn(to.name()).set_publish_batch_request_entries(Some(requests));
        let answer = call.send().await.map_err(|error| whole_call(error.code(), entries.len()))?;
        let accepted = answer.successful().iter().filter_map(|entry| Some((entry.id()?.to_owned(), Ok(()))));
        let failed = answer
            .failed()
            .iter()
            .map(|entry| (entry.id.clone(), entry_error(&entry.code, entry.sender_fault)));
        Ok(accepted.chain(failed).collect())
    }

    async fn to_queue(&self, to: &Destination, entries: &[Outgoing]) -> Result<Answers, PublishError> {
        let requests = entries.iter().enumerate().map(|(index, entry)| sqs_entry(index, entry, to));
        let requests = requests.collect::<Result<Vec<_>, _>>().map_err(|e| not_built(&e))?;
        let call = self.sqs.send_message_batch().queue_url(to.name()).set_entries(Some(requests));
        let answer = call.send().await.map_err(|error| whole_call(error.code(), entries.len()))?;
        let accepted = answer.successful().iter().map(|entry| (entry.id.clone(), Ok(())));
        let failed = answer
            .failed()
            .iter()
            .map(|entry| (entry.id.clone(), entry_error(&entry.code, entry.sender_fault)));
        Ok(accepted.chain(failed).collect())
    }
}

impl Publisher for AwsPublisher {
    fn publish<'a>(
        &'a self,
        destination: &'a Destination,
        entries: &'a [Outgoing],
    ) -> BoxFuture<'a, Vec<Result<(), PublishError>>> {
        Box::pin(async move {
            let answers = match destination.kind() {
                Kind::Topic => self.to_topic(destination, entries).await,
                Kind::Queue => self.to_queue(destination, entries).await,
            };
            match answers {
                Ok(answers) => by_position(answers, entries.len()),
                Err(error) => vec![Err(error); entries.len()],
            }
        })
    }
}

fn sns_entry(
    index: usize,
    entry: &Outgoing,
    to: &Destination,
) -> Result<PublishBatchRequestEntry, BuildError> {
    let attribute = |value: &str| SnsAttribute::builder().data_type("String").string_value(value).build();
    let mut request = PublishBatchRequestEntry::builder()
        .id(index.to_string())
        .message(&entry.body)
        .message_attributes("event_type", attribute(&entry.event_type)?)
        .message_attributes("aggregate_type", attribute(&entry.aggregate_type)?);
    if to.is_grouped() {
        request = request.message_group_id(&entry.group);
    }
    // A standard destination refuses a deduplication id.
    if to.is_fifo() {
        request = request.message_deduplication_id(&entry.dedup_id);
    }
    request.build()
}

fn sqs_entry(
    index: usize,
    entry: &Outgoing,
    to: &Destination,
) -> Result<SendMessageBatchRequestEntry, aws_sdk_sqs::error::BuildError> {
    let attribute = |value: &str| SqsAttribute::builder().data_type("String").string_value(value).build();
    let mut request = SendMessageBatchRequestEntry::builder()
        .id(index.to_string())
        .message_body(&entry.body)
        .message_attributes("event_type", attribute(&entry.event_type)?)
        .message_attributes("aggregate_type", attribute(&entry.aggregate_type)?);
    if to.is_grouped() {
        request = request.message_group_id(&entry.group);
    }
    // A standard destination refuses a deduplication id.
    if to.is_fifo() {
        request = request.message_deduplication_id(&entry.dedup_id);
    }
    request.build()
}

fn not_built(error: &dyn std::error::Error) -> PublishError {
    PublishError::NotNow(format!("the request cannot be built: {error}"))
}

/// A call that failed as a whole says nothing for certain about one of several entries. Alone, an entry that is too
/// large is at fault itself.
fn whole_call(code: Option<&str>, entries: usize) -> PublishError {
    let code = code.unwrap_or("no answer");
    let too_large = matches!(
        code,
        "BatchRequestTooLong" | "BatchRequestTooLongException" | "AWS.SimpleQueueService.BatchRequestTooLong"
    );
    if entries == 1 && too_large {
        PublishError::Refused(code.to_owned())
    } else {
        PublishError::NotNow(code.to_owned())
    }
}

fn entry_error(code: &str, sender_fault: bool) -> Result<(), PublishError> {
    // Throttling is sometimes flagged as the sender's fault; it is not the message's.
    if sender_fault && !code.contains("Throttl") {
        Err(PublishError::Refused(code.to_owned()))
    } else {
        Err(PublishError::NotNow(code.to_owned()))
    }
}

/// An entry that the answer does not mention has failed.
fn by_position(answers: Answers, entries: usize) -> Vec<Result<(), PublishError>> {
    let mut by_id: HashMap<String, Result<(), PublishError>> = answers.into_iter().collect();
    (0..entries)
        .map(|index| {
            by_id
                .remove(&index.to_string())
                .unwrap_or_else(|| Err(PublishError::NotNow("not mentioned in the answer".to_owned())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c08_a_standard_destination_gets_a_group_where_asked_and_never_a_dedup_id() {
        let entry = Outgoing {
            body: "{}".into(),
            event_type: "Paid".into(),
            aggregate_type: "Account".into(),
            group: "Account#a".into(),
            event_id: "e".into(),
            dedup_id: "e".into(),
        };
        let expected = [(None, None), (Some("Account#a"), Some("e")), (Some("Account#a"), None)];
        for (name, topic) in [("arn:aws:sns:r:1:t", true), ("https://sqs/q", false)] {
            let routes =
                format!(r#"{{"a": ["{name}", "{name}.fifo"], "b": [{{"to": "{name}", "fair": true}}]}}"#);
            let routes: crate::outbox::Routes = routes.parse().unwrap();
            let all = ["a", "b"].into_iter().flat_map(|route| routes.of(route, "").unwrap());
            let sent: Vec<(Option<String>, Option<String>)> = all
                .map(|to| match topic {
                    true => {
                        let sent = sns_entry(0, &entry, to).unwrap();
                        (sent.message_group_id, sent.message_deduplication_id)
                    }
                    false => {
                        let sent = sqs_entry(0, &entry, to).unwrap();
                        (sent.message_group_id, sent.message_deduplication_id)
                    }
                })
                .collect();
            let sent: Vec<_> =
                sent.iter().map(|(group, dedup)| (group.as_deref(), dedup.as_deref())).collect();
            assert_eq!(sent, expected, "{name}");
        }
    }

    #[test]
    fn an_entry_that_is_not_mentioned_has_failed() {
        let answers = vec![("2".to_owned(), Ok(())), ("0".to_owned(), entry_error("InvalidParameter", true))];
        let results = by_position(answers, 4);
        assert_eq!(results[0], Err(PublishError::Refused("InvalidParameter".into())));
        assert!(matches!(results[1], Err(PublishError::NotNow(_))));
        assert_eq!(results[2], Ok(()));
        assert!(matches!(results[3], Err(PublishError::NotNow(_))));
    }

    #[test]
    fn throttling_is_never_the_message_s_fault() {
        assert!(matches!(entry_error("ThrottledException", true), Err(PublishError::NotNow(_))));
        assert!(matches!(whole_call(Some("BatchRequestTooLong"), 2), PublishError::NotNow(_)));
        assert!(matches!(whole_call(Some("BatchRequestTooLong"), 1), PublishError::Refused(_)));
    }
}
