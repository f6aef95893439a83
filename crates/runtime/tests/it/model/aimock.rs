//! The mock server `@copilotkit/aimock`, which speaks all four protocols.
//!
//! Started with the fixtures beside this file: `llmock -p PORT -f FOLDER`.
