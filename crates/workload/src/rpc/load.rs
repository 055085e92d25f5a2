//! The load of one trial: clients that share connections.

use std::rc::Rc;
use std::sync::Arc;

use driver::Timeouts;
use driver::rpc::{Call, Connection, Service};
use engine::{Clients, Load};
use measure::{Operation, OperationKind};

use super::client::RpcClient;
use super::metadata::Metadata;
use super::payload::Payload;
use crate::policy::ErrorPolicy;
use crate::transaction_loop::run_transactions;

/// What the clients of a load send.
pub(super) struct Requests {
    pub(super) payload: Payload,
    pub(super) metadata: Metadata,
    /// From which they draw.
    pub(super) seed: u64,
}

pub(super) struct RpcLoad {
    service: Arc<Service>,
    call: Arc<Call>,
    timeouts: Timeouts,
    requests: Requests,
    clients: usize,
    /// Connections that the clients share, at most as many as clients.
    connections: usize,
    operations: Vec<Operation>,
}

impl RpcLoad {
    pub(super) fn new(
        service: Arc<Service>,
        call: Arc<Call>,
        timeouts: Timeouts,
        requests: Requests,
        (clients, connections): (usize, usize),
    ) -> Self {
        let name = call.method.as_ref().map_or_else(|| "request".to_owned(), |it| it.name.clone());
        let operations = vec![Operation::new(name, OperationKind::Transaction)];
        Self { service, call, timeouts, requests, clients, connections, operations }
    }

    /// The connection of a client: consecutive clients share one.
    fn connection_of(&self, client: usize) -> usize {
        client * self.connections / self.clients.max(1)
    }

    fn first_client(&self, connection: usize) -> usize {
        (connection * self.clients).div_ceil(self.connections.max(1))
    }
}

impl Load for RpcLoad {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn align(&self, client: usize) -> usize {
        self.first_client(self.connection_of(client))
    }

    fn clients(&self, clients: Clients<'_>) {
        let range = clients.range();
        let mut slots = Vec::with_capacity(range.len());
        let mut client = range.start;
        while client < range.end {
            let index = self.connection_of(client);
            let end = self.first_client(index + 1).min(range.end);
            let place = (index, end - client);
            let connection =
                Connection::new(clients.net(), &self.service, &self.call, self.timeouts, place);
            slots.extend((0..place.1).map(|slot| (connection.clone(), slot)));
            client = end;
        }
        let slots = Rc::new(slots);
        let Requests { payload, metadata, seed } = &self.requests;
        let (payload, metadata, seed) = (payload.clone(), metadata.clone(), *seed);
        clients.start(move |mut handle| {
            let (connection, slot) = slots[handle.index() - range.start].clone();
            let body = payload.body(handle.index(), seed);
            let metadata = metadata.of_client(handle.index(), seed);
            async move {
                let mut client = RpcClient::new(connection.slot(slot), body, metadata);
                client.connect().await?;
                run_transactions(&mut handle, &mut client, &ErrorPolicy::ignore_all()).await
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use driver::rpc::{ContentType, Protocol};

    use super::*;

    fn load(clients: usize, connections: usize) -> RpcLoad {
        let protocol = Protocol::Tcp { announces: false };
        let service =
            Service { protocol, addresses: Vec::new(), method: None, tls: None, authority: None };
        let call = Call {
            method: None,
            metadata: Vec::new(),
            content_type: ContentType::Bytes,
            caller: String::new(),
            answer_bytes: 1,
            ..Call::default()
        };
        let payload = Payload::Fixed([0].into(), "of zeros");
        let requests = Requests { payload, metadata: Metadata::default(), seed: 1 };
        let size = (clients, connections);
        let (service, call) = (Arc::new(service), Arc::new(call));
        RpcLoad::new(service, call, Timeouts::default(), requests, size)
    }

    #[test]
    fn consecutive_clients_share_connections_evenly() {
        for (clients, connections) in [(1300, 100), (10, 3), (7, 7), (1, 1), (100, 1), (101, 100)] {
            let load = load(clients, connections);
            let mut sizes = vec![0; connections];
            (0..clients).for_each(|client| sizes[load.connection_of(client)] += 1);
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 1 && *least > 0, "{clients} {connections}: {sizes:?}");
            for client in 0..=clients {
                let first = load.align(client);
                assert!(first <= client);
                assert_eq!(load.align(first), first);
                let splits =
                    first > 0 && load.connection_of(first - 1) == load.connection_of(first);
                assert!(!splits, "{clients} {connections}: {first}");
            }
            assert_eq!(load.align(clients), clients);
        }
    }
}
