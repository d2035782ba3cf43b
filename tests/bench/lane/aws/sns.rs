//! SNS speaks the query protocol: a form comes, XML goes. Messages are only looked at after the run.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use super::Answer;

/// Entries that `PublishBatch` takes in one call.
const MAX_ENTRIES: usize = 10;
/// Bytes that the messages of one call may have together.
const MAX_BYTES: usize = 262_144;

/// The service: keeps the forms that it was sent.
#[derive(Debug, Default)]
pub(crate) struct Sns(Mutex<Vec<Vec<u8>>>);

/// A message at a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) topic: String,
    pub(crate) message: String,
}

impl Sns {
    pub(super) fn answer(&self, action: &str, form: &[u8]) -> Result<Answer, String> {
        let result = match action {
            "Publish" => "<MessageId>567910cd-659e-55d4-8ccb-5aaf14679dc0</MessageId>".to_owned(),
            "PublishBatch" => accepted(form)?,
            _ => return Err("the operation is not known here".to_owned()),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(form.to_vec());
        Ok(Answer::xml(format!(
            "<{action}Response xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><{action}Result>{result}\
             </{action}Result><ResponseMetadata><RequestId>d74b8436-ae13-5ab4-a9ff-ce54dfea72a0</RequestId>\
             </ResponseMetadata></{action}Response>"
        )))
    }

    /// All messages that were accepted, in the order of the calls.
    ///
    /// # Errors
    /// When a call had what SNS would not have taken.
    pub(crate) fn published(&self) -> Result<Vec<Published>, String> {
        let forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for form in forms.iter() {
            let mut topic = String::new();
            let mut messages = Vec::new();
            for (name, value) in pairs(form) {
                if name == b"TopicArn" {
                    topic = decoded(value);
                } else if name == b"Message" || name.ends_with(b".Message") {
                    messages.push(decoded(value));
                }
            }
            let bytes: usize = messages.iter().map(String::len).sum();
            if bytes > MAX_BYTES {
                return Err(format!("a publish call has {bytes} bytes of messages"));
            }
            all.extend(messages.into_iter().map(|message| Published { topic: topic.clone(), message }));
        }
        Ok(all)
    }
}

/// The operation that a form names.
pub(super) fn action(form: &[u8]) -> String {
    pairs(form).find(|(name, _)| *name == b"Action").map(|(_, value)| decoded(value)).unwrap_or_default()
}

/// The answer's part for a batch that is accepted as a whole.
fn accepted(form: &[u8]) -> Result<String, String> {
    let mut ids = Vec::with_capacity(MAX_ENTRIES);
    for (name, value) in pairs(form) {
        if name.ends_with(b".Id") {
            ids.push(decoded(value));
        }
    }
    let mut members = String::with_capacity(128 * ids.len());
    for (index, id) in ids.iter().enumerate() {
        if ids.iter().take(index).any(|other| other == id) {
            return Err(format!("two entries have the id {id:?}"));
        }
        // Ids are letters, digits, hyphens and underscores: there is nothing to escape.
        let _ = write!(
            members,
            "<member><MessageId>567910cd-659e-55d4-8ccb-5aaf14679d{index:02}</MessageId><Id>{id}</Id></member>"
        );
    }
    if !(1..=MAX_ENTRIES).contains(&ids.len()) {
        return Err(format!("{} entries, of 1 to {MAX_ENTRIES}", ids.len()));
    }
    Ok(format!("<Failed/><Successful>{members}</Successful>"))
}

/// Names and values of a form, as they came.
fn pairs(form: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    form.split(|byte| *byte == b'&').filter_map(|pair| {
        let equals = pair.iter().position(|byte| *byte == b'=')?;
        Some((pair.get(..equals)?, pair.get(equals + 1..)?))
    })
}

fn decoded(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.iter().copied();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit =
                    || rest.next().and_then(|digit| char::from(digit).to_digit(16)).unwrap_or_default();
                u8::try_from(digit() * 16 + digit()).unwrap_or_default()
            }
            plain => plain,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(ids: &[&str]) -> String {
        let mut form =
            "Action=PublishBatch&Version=2010-03-31&TopicArn=arn%3Aaws%3Asns%3Ar%3A1%3At".to_owned();
        for (index, id) in ids.iter().enumerate() {
            let entry = format!("&PublishBatchRequestEntries.member.{}", index + 1);
            form.push_str(&format!("{entry}.Id={id}{entry}.Message=%7B%22id%22%3A%22%C3%A4+{id}%2B%22%7D"));
            form.push_str(&format!("{entry}.MessageAttributes.entry.1.Value.StringValue=x"));
        }
        form
    }

    #[test]
    fn messages_are_found_and_decoded() {
        let sns = Sns::default();
        let form = batch(&["0", "1"]);
        assert_eq!(action(form.as_bytes()), "PublishBatch");
        let answer = sns.answer("PublishBatch", form.as_bytes()).unwrap();
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains("<Id>0</Id>") && text.contains("<Id>1</Id>"), "{text}");
        let published = sns.published().unwrap();
        assert_eq!(published.len(), 2);
        assert_eq!(published[1].topic, "arn:aws:sns:r:1:t");
        assert_eq!(published[1].message, "{\"id\":\"ä 1+\"}");
    }

    #[test]
    fn what_sns_would_not_take_is_not_taken() {
        let sns = Sns::default();
        let twice = batch(&["0", "0"]);
        assert!(sns.answer("PublishBatch", twice.as_bytes()).unwrap_err().contains("two entries"));
        let ids: Vec<String> = (0..11).map(|id| id.to_string()).collect();
        let many = batch(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(sns.answer("PublishBatch", many.as_bytes()).unwrap_err().contains("11"));
        assert!(sns.answer("PublishBatch", batch(&[]).as_bytes()).is_err());
        assert!(sns.answer("Subscribe", b"Action=Subscribe").is_err());
        assert_eq!(sns.published().unwrap(), []);
    }
}
