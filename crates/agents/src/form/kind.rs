//! What a field asks for, in the words of HTML's `autocomplete` attribute.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What a field asks for. `None` is everything that the vocabulary has no word for.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are those of the HTML standard, which defines them")]
pub enum FieldKind {
    #[default]
    None,
    Name,
    HonorificPrefix,
    GivenName,
    AdditionalName,
    FamilyName,
    HonorificSuffix,
    Nickname,
    Username,
    NewPassword,
    CurrentPassword,
    OneTimeCode,
    OrganizationTitle,
    Organization,
    StreetAddress,
    AddressLine1,
    AddressLine2,
    AddressLine3,
    AddressLevel1,
    AddressLevel2,
    AddressLevel3,
    AddressLevel4,
    Country,
    CountryName,
    PostalCode,
    CcName,
    CcGivenName,
    CcAdditionalName,
    CcFamilyName,
    CcNumber,
    CcExp,
    CcExpMonth,
    CcExpYear,
    CcCsc,
    CcType,
    TransactionCurrency,
    TransactionAmount,
    Language,
    Bday,
    BdayDay,
    BdayMonth,
    BdayYear,
    Sex,
    Url,
    Photo,
    Tel,
    TelCountryCode,
    TelNational,
    TelAreaCode,
    TelLocal,
    TelExtension,
    Email,
    Impp,
}

/// Classes that are never filled unless the profile allows them and has the value.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SensitiveKind {
    /// Passwords, old and new.
    Password,
    /// Codes that are good once.
    OneTimeCode,
    /// The data on a payment card.
    Card,
    /// Files, named by their path.
    File,
}

impl SensitiveKind {
    /// All of them, in the order of messages.
    pub const ALL: [Self; 4] = [Self::Password, Self::OneTimeCode, Self::Card, Self::File];

    /// Returns the word that a profile has for it.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::OneTimeCode => "one-time-code",
            Self::Card => "card",
            Self::File => "file",
        }
    }

    /// Returns the class of that word.
    pub fn from_token(token: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.token() == token)
    }
}

/// What a field asks for that only the person may give, whatever else its page says about it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SecretKind {
    /// A password or a PIN.
    Password,
    /// A code that is good once.
    OneTimeCode,
    /// The number or the security code of a payment card.
    Card,
    /// The number by which a state knows a person.
    NationalId,
    /// The number of a bank account.
    BankAccount,
    /// The answer to a question by which people prove who they are.
    SecurityAnswer,
}

impl SecretKind {
    /// Returns the class that a profile must allow. What has none is filled from an answer
    /// under its label, and from nothing else.
    pub const fn class(self) -> Option<SensitiveKind> {
        match self {
            Self::Password => Some(SensitiveKind::Password),
            Self::OneTimeCode => Some(SensitiveKind::OneTimeCode),
            Self::Card => Some(SensitiveKind::Card),
            Self::NationalId | Self::BankAccount | Self::SecurityAnswer => None,
        }
    }
}

/// Every kind but `none`, with its token.
const TOKENS: &[(FieldKind, &str)] = &[
    (FieldKind::Name, "name"),
    (FieldKind::HonorificPrefix, "honorific-prefix"),
    (FieldKind::GivenName, "given-name"),
    (FieldKind::AdditionalName, "additional-name"),
    (FieldKind::FamilyName, "family-name"),
    (FieldKind::HonorificSuffix, "honorific-suffix"),
    (FieldKind::Nickname, "nickname"),
    (FieldKind::Username, "username"),
    (FieldKind::NewPassword, "new-password"),
    (FieldKind::CurrentPassword, "current-password"),
    (FieldKind::OneTimeCode, "one-time-code"),
    (FieldKind::OrganizationTitle, "organization-title"),
    (FieldKind::Organization, "organization"),
    (FieldKind::StreetAddress, "street-address"),
    (FieldKind::AddressLine1, "address-line1"),
    (FieldKind::AddressLine2, "address-line2"),
    (FieldKind::AddressLine3, "address-line3"),
    (FieldKind::AddressLevel1, "address-level1"),
    (FieldKind::AddressLevel2, "address-level2"),
    (FieldKind::AddressLevel3, "address-level3"),
    (FieldKind::AddressLevel4, "address-level4"),
    (FieldKind::Country, "country"),
    (FieldKind::CountryName, "country-name"),
    (FieldKind::PostalCode, "postal-code"),
    (FieldKind::CcName, "cc-name"),
    (FieldKind::CcGivenName, "cc-given-name"),
    (FieldKind::CcAdditionalName, "cc-additional-name"),
    (FieldKind::CcFamilyName, "cc-family-name"),
    (FieldKind::CcNumber, "cc-number"),
    (FieldKind::CcExp, "cc-exp"),
    (FieldKind::CcExpMonth, "cc-exp-month"),
    (FieldKind::CcExpYear, "cc-exp-year"),
    (FieldKind::CcCsc, "cc-csc"),
    (FieldKind::CcType, "cc-type"),
    (FieldKind::TransactionCurrency, "transaction-currency"),
    (FieldKind::TransactionAmount, "transaction-amount"),
    (FieldKind::Language, "language"),
    (FieldKind::Bday, "bday"),
    (FieldKind::BdayDay, "bday-day"),
    (FieldKind::BdayMonth, "bday-month"),
    (FieldKind::BdayYear, "bday-year"),
    (FieldKind::Sex, "sex"),
    (FieldKind::Url, "url"),
    (FieldKind::Photo, "photo"),
    (FieldKind::Tel, "tel"),
    (FieldKind::TelCountryCode, "tel-country-code"),
    (FieldKind::TelNational, "tel-national"),
    (FieldKind::TelAreaCode, "tel-area-code"),
    (FieldKind::TelLocal, "tel-local"),
    (FieldKind::TelExtension, "tel-extension"),
    (FieldKind::Email, "email"),
    (FieldKind::Impp, "impp"),
];

impl FieldKind {
    /// Returns every kind that the vocabulary has a word for.
    pub fn all() -> impl Iterator<Item = Self> {
        TOKENS.iter().map(|(kind, _)| *kind)
    }

    /// Returns the word that HTML and profiles have for it.
    pub fn token(self) -> &'static str {
        TOKENS.iter().find(|(kind, _)| *kind == self).map_or("none", |(_, token)| token)
    }

    /// Returns the kind of that word; nothing for words that are not in the vocabulary.
    pub fn from_token(token: &str) -> Option<Self> {
        TOKENS.iter().find(|(_, known)| *known == token).map(|(kind, _)| *kind)
    }

    /// Returns the class by which it is kept from being filled, if it is in one.
    pub const fn class(self) -> Option<SensitiveKind> {
        let card = matches!(
            self,
            Self::CcName
                | Self::CcGivenName
                | Self::CcAdditionalName
                | Self::CcFamilyName
                | Self::CcNumber
                | Self::CcExp
                | Self::CcExpMonth
                | Self::CcExpYear
                | Self::CcCsc
                | Self::CcType
        );
        if card {
            Some(SensitiveKind::Card)
        } else if matches!(self, Self::NewPassword | Self::CurrentPassword) {
            Some(SensitiveKind::Password)
        } else if matches!(self, Self::OneTimeCode) {
            Some(SensitiveKind::OneTimeCode)
        } else {
            None
        }
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.token())
    }
}

impl fmt::Display for SensitiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.token())
    }
}
