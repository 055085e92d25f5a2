//! Messages as bytes: postcard, which writes fields without their names, because both ends are the same program.

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::problem::Problem;

const FIRST_BYTES: usize = 256;

/// Bytes that grow without leaving copies behind.
#[derive(Debug)]
struct Wiped(Zeroizing<Vec<u8>>);

impl Extend<u8> for Wiped {
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        for byte in bytes {
            if self.0.len() == self.0.capacity() {
                let mut grown = Vec::with_capacity(2 * self.0.capacity());
                grown.extend_from_slice(&self.0);
                // The smaller ones are overwritten here, as they are dropped.
                self.0 = Zeroizing::new(grown);
            }
            self.0.push(byte);
        }
    }
}

/// The bytes of a message.
///
/// # Errors
/// When a value has no form in postcard, such as a sequence whose length is not known.
pub(crate) fn encode<T: Serialize + ?Sized>(message: &T) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let empty = Wiped(Zeroizing::new(Vec::with_capacity(FIRST_BYTES)));
    let written = postcard::to_extend(message, empty);
    Ok(written.map_err(|error| Problem::Garbage(format!("it cannot be written: {error}")))?.0)
}

/// The message of these bytes.
///
/// # Errors
/// When they are no such message, or more than one.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(Problem::Garbage(format!("{} bytes behind a message", rest.len()))),
        Err(error) => Err(Problem::Garbage(format!("{error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_are_read_as_they_were_written() {
        for length in [0, 1, FIRST_BYTES, 10 * FIRST_BYTES] {
            let message = ("x".repeat(length), vec![-1_i64, i64::MAX], Some(0.5_f64));
            let bytes = encode(&message).unwrap();
            assert_eq!(decode::<(String, Vec<i64>, Option<f64>)>(&bytes), Ok(message));
        }
    }

    #[test]
    fn bytes_behind_a_message_and_missing_ones_are_refused() {
        let bytes = encode(&7_u8).unwrap();
        let longer = [&bytes[..], &[0]].concat();
        assert!(
            matches!(decode::<u8>(&longer), Err(Problem::Garbage(why)) if why.contains("1 bytes behind"))
        );
        assert!(decode::<u8>(&[]).is_err());
        assert!(decode::<Vec<u64>>(&[0xff; 9]).is_err(), "a length without the numbers");
    }
}
