//! Results of tool calls, as records.

use repertoire_bindings::repertoire as engine;

use crate::json::Json;
use crate::record::record;

record! {
    /// The reason why a tool failed.
    Fault {
        /// The code, for programs.
        code: String,
        /// The problem and the advice on what to do.
        message: String,
    }
}

record! {
    /// The result of a tool call.
    Envelope {
        /// `success` or `error`.
        status: String,
        /// The result for programs; for an error, the partial result, if there is one.
        data: Json,
        /// The result for a model; for an error its code and message, and the partial result.
        text: String,
        /// The reason, if the tool failed.
        error: Option<Fault>,
    }
    {
        /// True if the tool succeeded.
        #[getter]
        fn ok(&self) -> bool {
            self.error.is_none()
        }

        /// Returns the text, for notebooks.
        fn _repr_markdown_(&self) -> &str {
            &self.text
        }

        /// Returns the envelope as JSON. A model gets `text`, which most of `data` repeats.
        fn to_json(&self) -> String {
            let Envelope { status, data: Json(data), text, error } = self;
            let mut fields = serde_json::Map::new();
            fields.insert("status".to_owned(), status.as_str().into());
            if let Some(Fault { code, message }) = error {
                let fault = serde_json::json!({"code": code, "message": message});
                fields.insert("error".to_owned(), fault);
            }
            if error.is_none() || !data.is_null() {
                fields.insert("data".to_owned(), data.clone());
            }
            if error.is_none() {
                fields.insert("text".to_owned(), text.as_str().into());
            }
            serde_json::Value::from(fields).to_string()
        }
    }
}

impl From<engine::Envelope> for Envelope {
    fn from(envelope: engine::Envelope) -> Envelope {
        let text = envelope.text().into_owned();
        match envelope {
            engine::Envelope::Success { data, .. } => {
                Envelope { status: "success".to_owned(), data: Json(data), text, error: None }
            }
            engine::Envelope::Error { error, data } => Envelope {
                status: "error".to_owned(),
                data: Json(data.unwrap_or_default()),
                text,
                error: Some(Fault { code: error.code.as_str().to_owned(), message: error.message }),
            },
        }
    }
}
