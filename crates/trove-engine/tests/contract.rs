//! The clock and the randomness of a real process keep their contracts.

mod clock {
    trove_testkit::clock_contract!(async { Some(Box::new(trove_engine::SystemClock)) });
}

mod ids {
    trove_testkit::id_generator_contract!(async { Some(Box::new(trove_engine::SystemIds)) });
}
