//! What a field asks for, in the words of HTML's `autocomplete` attribute.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What a field asks for. `None` is everything that the vocabulary has no word for.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are those of the HTML standard, which defines them")]
pub enum Kind {
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

/// What is never filled unless the profile allows it and has the value.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Class {
    /// Passwords, old and new.
    Password,
    /// Codes that are good once.
    OneTimeCode,
    /// What is printed on a payment card.
    Card,
    /// Files, named by their path.
    File,
}

impl Class {
    /// All of them, in the order in which they are told of.
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

/// What a field asks for that only the person may give, whatever else its page says of it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Secret {
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

impl Secret {
    /// Returns the class that a profile must allow. What has none is filled from an answer
    /// under its label, and from nothing else.
    pub const fn class(self) -> Option<Class> {
        match self {
            Self::Password => Some(Class::Password),
            Self::OneTimeCode => Some(Class::OneTimeCode),
            Self::Card => Some(Class::Card),
            Self::NationalId | Self::BankAccount | Self::SecurityAnswer => None,
        }
    }
}

/// Every kind but `none`, with its token.
const TOKENS: &[(Kind, &str)] = &[
    (Kind::Name, "name"),
    (Kind::HonorificPrefix, "honorific-prefix"),
    (Kind::GivenName, "given-name"),
    (Kind::AdditionalName, "additional-name"),
    (Kind::FamilyName, "family-name"),
    (Kind::HonorificSuffix, "honorific-suffix"),
    (Kind::Nickname, "nickname"),
    (Kind::Username, "username"),
    (Kind::NewPassword, "new-password"),
    (Kind::CurrentPassword, "current-password"),
    (Kind::OneTimeCode, "one-time-code"),
    (Kind::OrganizationTitle, "organization-title"),
    (Kind::Organization, "organization"),
    (Kind::StreetAddress, "street-address"),
    (Kind::AddressLine1, "address-line1"),
    (Kind::AddressLine2, "address-line2"),
    (Kind::AddressLine3, "address-line3"),
    (Kind::AddressLevel1, "address-level1"),
    (Kind::AddressLevel2, "address-level2"),
    (Kind::AddressLevel3, "address-level3"),
    (Kind::AddressLevel4, "address-level4"),
    (Kind::Country, "country"),
    (Kind::CountryName, "country-name"),
    (Kind::PostalCode, "postal-code"),
    (Kind::CcName, "cc-name"),
    (Kind::CcGivenName, "cc-given-name"),
    (Kind::CcAdditionalName, "cc-additional-name"),
    (Kind::CcFamilyName, "cc-family-name"),
    (Kind::CcNumber, "cc-number"),
    (Kind::CcExp, "cc-exp"),
    (Kind::CcExpMonth, "cc-exp-month"),
    (Kind::CcExpYear, "cc-exp-year"),
    (Kind::CcCsc, "cc-csc"),
    (Kind::CcType, "cc-type"),
    (Kind::TransactionCurrency, "transaction-currency"),
    (Kind::TransactionAmount, "transaction-amount"),
    (Kind::Language, "language"),
    (Kind::Bday, "bday"),
    (Kind::BdayDay, "bday-day"),
    (Kind::BdayMonth, "bday-month"),
    (Kind::BdayYear, "bday-year"),
    (Kind::Sex, "sex"),
    (Kind::Url, "url"),
    (Kind::Photo, "photo"),
    (Kind::Tel, "tel"),
    (Kind::TelCountryCode, "tel-country-code"),
    (Kind::TelNational, "tel-national"),
    (Kind::TelAreaCode, "tel-area-code"),
    (Kind::TelLocal, "tel-local"),
    (Kind::TelExtension, "tel-extension"),
    (Kind::Email, "email"),
    (Kind::Impp, "impp"),
];

impl Kind {
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
    pub const fn class(self) -> Option<Class> {
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
            Some(Class::Card)
        } else if matches!(self, Self::NewPassword | Self::CurrentPassword) {
            Some(Class::Password)
        } else if matches!(self, Self::OneTimeCode) {
            Some(Class::OneTimeCode)
        } else {
            None
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.token())
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.token())
    }
}
