//! The fakes keep the contracts of what they stand for.

mod clock {
    use trove_testkit::fakes::FakeClock;

    trove_testkit::clock_contract!(async { Some(Box::new(FakeClock::default())) });
}

mod ids {
    use trove_testkit::fakes::SequentialIds;

    trove_testkit::id_generator_contract!(async { Some(Box::new(SequentialIds::default())) });
}

mod embedding_model {
    use trove_testkit::fakes::HashingEmbedder;

    trove_testkit::embedding_model_contract!(async { Some(Box::new(HashingEmbedder::new(64))) });
}

mod language_model {
    use trove_testkit::scripted_model::ScriptedLanguageModel;

    trove_testkit::language_model_contract!(async {
        Some(Box::new(ScriptedLanguageModel::repeating()))
    });
}

mod audit_log {
    use trove_testkit::audit_log::MemoryAuditLog;

    trove_testkit::audit_log_contract!(async { Some(Box::new(MemoryAuditLog::default())) });
}
