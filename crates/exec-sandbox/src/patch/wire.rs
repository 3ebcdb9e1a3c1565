//! Words of requests.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use crate::choices::SandboxBackend;

impl<'de> Deserialize<'de> for SandboxBackend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| {
            let known = Self::ALL.iter().map(Self::name);
            let hint = stockade_text::nearest(&name, known).map(|near| format!("; did you mean `{near}`?"));
            D::Error::custom(format_args!("there is no backend `{name}`{}", hint.unwrap_or_default()))
        })
    }
}
