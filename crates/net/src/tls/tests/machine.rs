//! Bytes that are split, floods of bytes, and violations of the protocol.

use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};

use super::*;

#[test]
fn a_handshake_may_be_cut_at_every_byte() {
    let authority = Authority::new("authority");
    let issued = authority.issue(&["db.example"], Lifetime::Now);
    let client = client(&authority);
    for version in VERSIONS {
        let config = server_config(&issued, version, None);
        let mut cut = 0;
        loop {
            let mut machine = Machine::new(&client, "db.example").unwrap();
            let mut server = Server::new(&config);
            let said = talk(&mut machine, &mut server, cut).unwrap();
            assert!(machine.is_secure(), "cut at {cut} of {said}");
            assert!(machine.cipher().is_some());
            cut += 1;
            if cut > said {
                assert!(said > 500, "a server that says {said} bytes made no handshake");
                break;
            }
        }
    }
}

#[test]
fn an_answer_may_be_cut_at_every_byte() {
    for version in VERSIONS {
        let (mut machine, mut server) = connected(version);
        let plain: Vec<u8> = (0..200).collect();
        for cut in 1..400 {
            let records = server.answer(&plain);
            assert_eq!(open_all(&mut machine, &records, cut), Ok(plain.clone()), "cut at {cut}");
            if cut > records.len() {
                break;
            }
        }
    }
}

#[test]
fn answers_of_many_records_are_complete_for_any_chunking() {
    for version in VERSIONS {
        let (mut machine, mut server) = connected(version);
        let plain: Vec<u8> = (0..100_000).map(|place| (place % 251) as u8).collect();
        for step in [1, 1_000, 16_384, 65_536] {
            let records = server.answer(&plain);
            let opened = open_all(&mut machine, &records, step).unwrap();
            assert!(opened == plain, "pieces of {step}");
            assert!(machine.capacity_bytes() <= 256 * 1024, "{}", machine.capacity_bytes());
            assert!(!machine.has_leftover());
        }
    }
}

#[test]
fn records_are_returned_one_at_a_time_without_loss() {
    let (mut machine, mut server) = connected(&TLS13);
    let mut records = server.answer(b"one");
    records.extend(server.answer(b"two"));
    let mut seen = Vec::new();
    assert_eq!(
        machine.open(&mut records, |bytes| seen.push(bytes.to_vec())),
        Ok(Opened::Plain(()))
    );
    assert!(machine.has_leftover());
    assert_eq!(machine.open(&mut [], |bytes| seen.push(bytes.to_vec())), Ok(Opened::Plain(())));
    assert_eq!(machine.open(&mut [], |bytes| seen.push(bytes.to_vec())), Ok(Opened::Wanting));
    assert_eq!(seen, [b"one", b"two"]);
}

#[test]
fn requests_of_any_length_arrive() {
    for version in VERSIONS {
        let (mut machine, mut server) = connected(version);
        for length in [1, 100, 16_384, 16_385, 1 << 20] {
            let plain: Vec<u8> = (0..length).map(|place| (place % 253) as u8).collect();
            let (mut sent, mut received) = (0, Vec::new());
            while sent < plain.len() {
                machine.seal(&plain[sent..]).unwrap();
                server.receive(&records_of(&mut machine));
                sent += machine.take_sealed();
                received.extend(server.received());
            }
            assert!(received == plain, "{length} bytes");
        }
        assert!(machine.capacity_bytes() <= 256 * 1024, "{}", machine.capacity_bytes());
    }
}

#[test]
fn input_during_a_write_is_read_later() {
    let (mut machine, mut server) = connected(&TLS13);
    let mut records = server.answer(b"first");
    records.extend(server.answer(b"second"));
    let mut seen = Vec::new();
    machine.open(&mut records, |bytes| seen.extend_from_slice(bytes)).unwrap();
    machine.seal(b"request").unwrap();
    server.receive(&records_of(&mut machine));
    assert_eq!(server.received(), b"request");
    machine.open(&mut server.answer(b" third"), |bytes| seen.extend_from_slice(bytes)).unwrap();
    machine.open(&mut [], |bytes| seen.extend_from_slice(bytes)).unwrap();
    assert_eq!(seen, b"firstsecond third");
}

#[test]
fn keys_are_renewed_in_the_middle_of_answers() {
    let (mut machine, mut server) = connected(&TLS13);
    for round in 0..10 {
        server.0.refresh_traffic_keys().unwrap();
        let records = server.answer(b"answer");
        assert_eq!(open_all(&mut machine, &records, 7), Ok(b"answer".to_vec()), "round {round}");
        machine.seal(b"request").unwrap();
        server.receive(&records_of(&mut machine));
        assert_eq!(server.received(), b"request", "round {round}");
    }
}

/// A client whose keys are used up after a few records, as any client's are after millions.
fn short_lived_client() -> TlsClient {
    const RECORDS: u64 = 30;
    let mut provider = rustls::crypto::ring::default_provider();
    for suite in &mut provider.cipher_suites {
        let common = |common: &CipherSuiteCommon| CipherSuiteCommon {
            confidentiality_limit: RECORDS,
            ..*common
        };
        *suite = match *suite {
            SupportedCipherSuite::Tls12(suite) => {
                let suite = Tls12CipherSuite { common: common(&suite.common), ..*suite };
                SupportedCipherSuite::Tls12(Box::leak(Box::new(suite)))
            }
            SupportedCipherSuite::Tls13(suite) => {
                let suite = Tls13CipherSuite { common: common(&suite.common), ..*suite };
                SupportedCipherSuite::Tls13(Box::leak(Box::new(suite)))
            }
        };
    }
    TlsClient::with_provider(Trust::Anyone, None, provider).unwrap()
}

#[test]
fn exhausted_keys_are_renewed_where_tls_1_3_allows() {
    let issued = Authority::new("authority").issue(&["db.example"], Lifetime::Now);
    let client = short_lived_client();
    let end = |version| {
        let mut machine = Machine::new(&client, "db.example").unwrap();
        let mut server = Server::new(&server_config(&issued, version, None));
        talk(&mut machine, &mut server, 0).unwrap();
        for _ in 0..500 {
            machine.seal(b"request")?;
            server.receive(&records_of(&mut machine));
            assert_eq!(server.received(), b"request");
            let records = server.answer(b"answer");
            assert_eq!(open_all(&mut machine, &records, 1 << 16)?, b"answer");
        }
        Ok(())
    };
    assert_eq!(VERSIONS.map(end), [Err(TlsFault::KeysUsedUp), Ok(())]);
}

#[test]
fn close_notify_is_distinguished_from_silence() {
    for version in VERSIONS {
        let (mut machine, mut server) = connected(version);
        let mut records = server.answer(b"last words");
        server.0.send_close_notify();
        records.extend(server.records());
        let mut seen = Vec::new();
        let mut read =
            |fresh: &mut [u8]| machine.open(fresh, |bytes| seen.extend_from_slice(bytes));
        assert_eq!(read(&mut records), Ok(Opened::Plain(())));
        assert_eq!(read(&mut []), Ok(Opened::Closed));
        assert_eq!(read(&mut []), Ok(Opened::Closed));
        assert_eq!(seen, b"last words");
    }
}

#[test]
fn a_corrupted_byte_is_never_delivered() {
    for version in VERSIONS {
        let (_, mut server) = connected(version);
        let length = server.answer(b"an answer").len();
        for place in 0..length {
            let (mut machine, mut server) = connected(version);
            let mut records = server.answer(b"an answer");
            records[place] ^= 1;
            match open_all(&mut machine, &records, records.len()) {
                // A longer record is not complete; a record's outer type and version have no meaning in
                // TLS 1.3.
                Ok(plain) => assert!(plain.is_empty() || place < 3 && plain == b"an answer"),
                Err(TlsFault::Broken(_) | TlsFault::NotTls) => {}
                Err(other) => panic!("byte {place}: {other}"),
            }
        }
    }
}

#[test]
fn non_tls_peers_are_reported() {
    let authority = Authority::new("authority");
    for garbage in
        [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0xff; 64], &[0x4a, 0, 0, 2, 0xff, 1]]
    {
        let mut machine = Machine::new(&client(&authority), "db.example").unwrap();
        assert_eq!(machine.shake_hands(&mut garbage.to_vec()), Err(TlsFault::NotTls));
        assert!(!machine.is_secure());
    }
}

#[test]
fn endless_handshake_messages_are_refused() {
    let authority = Authority::new("authority");
    let mut machine = Machine::new(&client(&authority), "db.example").unwrap();
    // Records of 16 KiB that belong to one message of 16 MiB.
    let mut record = vec![22, 3, 3, 0x40, 0, 2, 0xff, 0xff, 0xff];
    record.resize(5 + 0x4000, 0);
    let mut rounds = 0;
    let fault = loop {
        match machine.shake_hands(&mut record.clone()) {
            Ok(_) => rounds += 1,
            Err(fault) => break fault,
        }
        assert!(rounds < 32, "{} bytes are held", machine.capacity_bytes());
    };
    assert!(matches!(fault, TlsFault::NotTls | TlsFault::Broken(_)), "{fault}");
    assert!(machine.capacity_bytes() <= 512 * 1024);
}

#[test]
fn any_bytes_end_a_handshake_in_the_same_way() {
    // Real handshakes, changed in one place each.
    let authority = Authority::new("authority");
    let issued = authority.issue(&["db.example"], Lifetime::Now);
    for version in VERSIONS {
        let mut machine = Machine::new(&client(&authority), "db.example").unwrap();
        let mut server = Server::new(&server_config(&issued, version, None));
        server.receive(&records_of(&mut machine));
        let flight = server.records();
        for place in 0..flight.len() {
            let mut changed = flight.clone();
            changed[place] ^= 0x55;
            super::fuzz::handshake(&changed);
        }
    }
}
