//! Permissions to connect, in virtual time.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::connect_queue::CONNECTING_MAX;
use crate::{Clock, Runtime, within};

#[test]
fn connect_permits_are_granted_in_order_and_limited() {
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let (open, served) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for client in 0..CONNECTING_MAX * 5 {
        let (handle, open, served) = (handle.clone(), Rc::clone(&open), Rc::clone(&served));
        runtime.spawn(async move {
            let turn = handle.connect_permit().await;
            assert_eq!(served.replace(served.get() + 1), client);
            open.set(open.get() + 1);
            assert!(open.get() <= CONNECTING_MAX);
            handle.sleep(Duration::from_millis(10)).await;
            open.set(open.get() - 1);
            drop(turn);
        });
    }
    runtime.run(|| Some(u64::MAX)).unwrap();
    assert_eq!(served.get(), CONNECTING_MAX * 5);
    assert_eq!(handle.now(), 50_000_000);
}

#[test]
fn an_abandoned_connect_permit_request_blocks_nobody() {
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let served = Rc::new(Cell::new(0));
    for client in 0..CONNECTING_MAX * 3 {
        let (handle, served) = (handle.clone(), Rc::clone(&served));
        runtime.spawn(async move {
            // The second group times out before the first has finished.
            let timeout =
                Duration::from_millis(if client / CONNECTING_MAX == 1 { 5 } else { 1000 });
            if let Some(_turn) = within(&handle, timeout, handle.connect_permit()).await {
                handle.sleep(Duration::from_millis(10)).await;
                served.set(served.get() + 1);
            }
        });
    }
    runtime.run(|| Some(u64::MAX)).unwrap();
    assert_eq!(served.get(), CONNECTING_MAX * 2);
}
