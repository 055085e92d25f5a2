//! Properties of the reader of profiles that hold for any bytes.

use measure::ProfileOf;

fuzzing::targets! {
    profile_of_go: whole;
}

/// Every place of a stack has a name, and a profile of locks has the times of the CPU profile of the same bytes.
fn whole(bytes: &[u8]) -> Option<()> {
    let read = |of| super::pprof::read(bytes, ("db", of, 1)).ok();
    let (cpu, locks) = (read(ProfileOf::Cpu)?, read(ProfileOf::Locks)?);
    for profile in [&cpu, &locks] {
        let mut places = profile.stacks.iter().flat_map(|stack| &stack.frames);
        assert!(places.all(|place| (*place as usize) < profile.names.len()));
    }
    assert_eq!(cpu.total_ns(), locks.total_ns());
    Some(())
}
