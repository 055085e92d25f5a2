//! Which certificates are accepted, and the messages about those that are not.

use super::*;

/// The result of a handshake with a server of this certificate, in words.
fn end(client: &TlsClient, host: &str, issued: &Issued) -> String {
    let ends = VERSIONS.map(|version| {
        let mut machine = Machine::new(client, host).unwrap();
        let mut server = Server::new(&server_config(issued, version, None));
        match talk(&mut machine, &mut server, 0) {
            Ok(_) if machine.is_secure() => "secure".to_owned(),
            Ok(_) => "neither secure nor an error".to_owned(),
            Err(fault) => fault.to_string(),
        }
    });
    assert_eq!(ends[0], ends[1], "TLS 1.2 and 1.3 do not agree");
    ends[0].clone()
}

#[test]
fn each_trust_level_accepts_what_it_documents() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let pem = ours.pem();
    let roots = Roots::Pem(pem.as_bytes());
    let trusts = [Trust::Anyone, Trust::Authority(roots), Trust::Identity(roots)];
    let clients = trusts.map(|trust| TlsClient::new(trust, None).unwrap());
    let issued = [
        ("right", ours.issue(&["db.example", "127.0.0.1"], Lifetime::Now)),
        ("foreign authority", others.issue(&["db.example"], Lifetime::Now)),
        ("foreign name", ours.issue(&["other.example"], Lifetime::Now)),
        ("no name", ours.issue(&[], Lifetime::Now)),
        ("past", ours.issue(&["db.example"], Lifetime::Past)),
        ("future", ours.issue(&["db.example"], Lifetime::Future)),
    ];
    let mut told = String::new();
    for (what, issued) in &issued {
        for (trust, client) in ["anyone", "authority", "identity"].iter().zip(&clients) {
            let end = end(client, "db.example", issued);
            // How many days ago depends on the day.
            let end = end.split(" days ago").next().unwrap().trim_end_matches(char::is_numeric);
            told.push_str(&format!("{what}, {trust}: {end}\n"));
        }
    }
    assert_eq!(
        told,
        "right, anyone: secure\n\
         right, authority: secure\n\
         right, identity: secure\n\
         foreign authority, anyone: secure\n\
         foreign authority, authority: the server's certificate is signed by no trusted authority\n\
         foreign authority, identity: the server's certificate is signed by no trusted authority\n\
         foreign name, anyone: secure\n\
         foreign name, authority: secure\n\
         foreign name, identity: the server's certificate is not for `db.example` but for \
         other.example\n\
         no name, anyone: secure\n\
         no name, authority: secure\n\
         no name, identity: the server's certificate is not for `db.example` but for nobody (it has no \
         subjectAltName)\n\
         past, anyone: secure\n\
         past, authority: the server's certificate has expired \n\
         past, identity: the server's certificate has expired \n\
         future, anyone: secure\n\
         future, authority: the server's certificate is not valid yet\n\
         future, identity: the server's certificate is not valid yet\n"
    );
    assert_eq!(end(&clients[0], "db.example", &ours.own()), "secure");
    assert_eq!(
        end(&clients[1], "db.example", &ours.own()),
        "the server's certificate cannot be checked: it is an authority's own, not one for a server"
    );
    assert_eq!(end(&clients[2], "127.0.0.1", &issued[0].1), "secure");
    assert!(end(&clients[2], "127.0.0.2", &issued[0].1).contains("not for `127.0.0.2`"));
}

#[test]
fn host_names_matter_only_when_they_are_verified() {
    let authority = Authority::new("authority");
    let pem = authority.pem();
    let roots = Roots::Pem(pem.as_bytes());
    let identity = TlsClient::new(Trust::Identity(roots), None).unwrap();
    let fault = Machine::new(&identity, "no host!").err();
    assert_eq!(fault, Some(TlsFault::UnusableName("no host!".to_owned())));
    let issued = authority.issue(&["db.example"], Lifetime::Now);
    assert_eq!(end(&client(&authority), "no host!", &issued), "secure");
}

/// The result of a handshake with a server that requires a certificate of `clients`.
fn end_with_demand(client: &TlsClient, clients: &Authority) -> Vec<Result<(), TlsFault>> {
    let issued = clients.issue(&["db.example"], Lifetime::Now);
    let end = |version| {
        let mut machine = Machine::new(client, "db.example").unwrap();
        let mut server = Server::new(&server_config(&issued, version, Some(clients)));
        talk(&mut machine, &mut server, 0)?;
        machine.seal(b"request")?;
        server.receive(&records_of(&mut machine));
        open_all(&mut machine, &server.answer(b"answer"), 1 << 16)?;
        Ok(())
    };
    VERSIONS.into_iter().map(end).collect()
}

#[test]
fn a_client_certificate_is_sent_on_request() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let with = |issued: &Issued| {
        let (chain_pem, key_pem) = (issued.pem.as_bytes(), issued.key_pem.as_bytes());
        TlsClient::new(Trust::Anyone, Some(ClientCertificate { chain_pem, key_pem })).unwrap()
    };
    let right = with(&ours.issue(&["client"], Lifetime::Now));
    assert_eq!(end_with_demand(&right, &ours), [Ok(()), Ok(())]);
    assert!(!right.lacked_certificate());

    let none = TlsClient::new(Trust::Anyone, None).unwrap();
    assert!(!none.lacked_certificate());
    for end in end_with_demand(&none, &ours) {
        let fault = end.unwrap_err();
        assert!(
            matches!(fault, TlsFault::CertificateDemanded | TlsFault::NothingInCommon(_)),
            "{fault}"
        );
    }
    assert!(none.lacked_certificate());

    for end in end_with_demand(&with(&others.issue(&["client"], Lifetime::Now)), &ours) {
        let fault = end.unwrap_err();
        assert!(matches!(fault, TlsFault::CertificateRefused(_) | TlsFault::Alert(_)), "{fault}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_told() {
    let authority = Authority::new("authority");
    let (one, other) =
        (authority.issue(&["one"], Lifetime::Now), authority.issue(&["other"], Lifetime::Now));
    let roots = |text: &'static str| {
        TlsClient::new(Trust::Authority(Roots::Pem(text.as_bytes())), None).unwrap_err().to_string()
    };
    let shown = |chain: &str, key: &str| {
        let (chain_pem, key_pem) = (chain.as_bytes(), key.as_bytes());
        let certificate = ClientCertificate { chain_pem, key_pem };
        TlsClient::new(Trust::Anyone, Some(certificate)).unwrap_err().to_string()
    };
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let told = [
        roots(""),
        roots("-----BEGIN CERTIFICATE-----\nno end"),
        roots("-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"),
        shown("", &one.key_pem),
        shown(&one.pem, ""),
        shown(&one.pem, encrypted),
        shown(&one.pem, &other.key_pem),
    ];
    assert_eq!(
        told.join("\n"),
        "it holds no usable certificate in PEM form: no certificate in it\n\
         it holds no usable certificate in PEM form: a section has no end\n\
         it holds no usable certificate in PEM form: a section is not base64\n\
         it holds no usable certificate in PEM form: no certificate in it\n\
         it holds no usable private key in PEM form: nothing of the kind is in it\n\
         its private key is encrypted with a passphrase\n\
         the private key does not belong to the certificate"
    );
    assert!(roots(broken).starts_with("it holds no usable certificate in PEM form: "));
}

#[test]
fn keys_are_not_shown_in_debug_output() {
    let issued = Authority::new("authority").issue(&["client"], Lifetime::Now);
    let (chain_pem, key_pem) = (issued.pem.as_bytes(), issued.key_pem.as_bytes());
    let certificate = ClientCertificate { chain_pem, key_pem };
    let client = TlsClient::new(Trust::Anyone, Some(certificate)).unwrap();
    assert_eq!(format!("{certificate:?} {client:?}"), "ClientCertificate TlsClient");
}
