//! Why a frame was not made the way it was asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Every reason there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A flag on service, tenant, scene or request says off.
    FlagOff,
    /// The kill switch is on.
    KillSwitch,
    /// The circuit breaker of this model is open.
    BreakerOpen,
    /// No model is live on the channel.
    NoModel,
    /// An artifact does not have the hash it was pinned to.
    HashMismatch,
    /// Driver, adapter, engine or executor is not what the pins name.
    PinViolation,
    /// The neural stage could not finish in time.
    Deadline,
    /// Too much work is waiting.
    Overload,
    /// The device was lost, or refused a call.
    DeviceLost,
    /// The frame does not fit this device's limits.
    DeviceLimit,
    /// The guard found the neural frame unexplained by the evidence.
    Guard,
    /// The divergence budget is spent.
    BudgetSpent,
    /// The inputs of the neural stage were not sane.
    InsaneInput,
}

/// What decides a fallback, and with it whether the answer may be kept under the plan's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decided {
    /// Flags and channels: resolved before the plan is made, so the plan's id covers it.
    ByPlan,
    /// The input alone: the same on any machine, remembered and cacheable.
    ByInput,
    /// Circumstance: never kept under the plan's id, unless the frame is the one that the plan names.
    ByCircumstance,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 13] = [
        Reason::FlagOff,
        Reason::KillSwitch,
        Reason::BreakerOpen,
        Reason::NoModel,
        Reason::HashMismatch,
        Reason::PinViolation,
        Reason::Deadline,
        Reason::Overload,
        Reason::DeviceLost,
        Reason::DeviceLimit,
        Reason::Guard,
        Reason::BudgetSpent,
        Reason::InsaneInput,
    ];

    /// The name used in headers, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Reason::FlagOff => "flag_off",
            Reason::KillSwitch => "kill_switch",
            Reason::BreakerOpen => "breaker_open",
            Reason::NoModel => "no_model",
            Reason::HashMismatch => "hash_mismatch",
            Reason::PinViolation => "pin_violation",
            Reason::Deadline => "deadline",
            Reason::Overload => "overload",
            Reason::DeviceLost => "device_lost",
            Reason::DeviceLimit => "device_limit",
            Reason::Guard => "guard",
            Reason::BudgetSpent => "budget_spent",
            Reason::InsaneInput => "insane_input",
        }
    }

    /// What decides it.
    pub fn decided(self) -> Decided {
        match self {
            Reason::FlagOff | Reason::KillSwitch | Reason::NoModel => Decided::ByPlan,
            Reason::Guard | Reason::InsaneInput => Decided::ByInput,
            Reason::BreakerOpen
            | Reason::HashMismatch
            | Reason::PinViolation
            | Reason::Deadline
            | Reason::Overload
            | Reason::DeviceLost
            | Reason::DeviceLimit
            | Reason::BudgetSpent => Decided::ByCircumstance,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fallback that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fallback {
    /// Why.
    pub reason: Reason,
    /// What exactly, in words.
    pub detail: String,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_wire() {
        for reason in Reason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        }
    }
}
