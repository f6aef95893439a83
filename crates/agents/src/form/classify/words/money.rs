//! Payment cards and amounts.

use super::{Row, row};
use crate::form::kind::Kind;

/// What is printed on a payment card.
pub(super) const CARDS: &[Row] = &[
    row(
        Kind::CcNumber,
        10,
        "card number, *cardnumber, card no, card #, credit card number, debit card number, \
         cc number, *ccnumber, cc num, ccnum, cc no, card num, *cardnum, credit card, \
         *creditcard, debit card, credit debit card, credit or debit card, pan, \
         account number card, card nr, *ccnum, kartennummer, *kartennummer, kreditkarte, \
         kreditkartennummer, numero de carte, numero de la carte, numero carte, \
         carte bancaire, carte de credit, numero de tarjeta, numero tarjeta, \
         tarjeta de credito, tarjeta, numero della carta, numero carta, carta di credito, \
         numero do cartao, numero cartao, cartao de credito, cartao, kaartnummer, \
         creditcardnummer, kortnummer, kreditkort, kortin numero, luottokortti, numer karty, \
         nr karty, cislo karty, kartyaszam, numar card, *номеркарты, номер карты, карты, \
         номер картки, αριθμοσ καρτασ, kart numarasi, kredi karti, kart no, カード番号, クレジットカード, \
         카드번호, 카드 번호, 信用卡号, 信用卡, 卡号, 卡號, رقم البطاقة, رقم بطاقة",
    ),
    row(
        Kind::CcName,
        10,
        "name on card, name on credit card, cardholder name, card holder name, cardholder, \
         card holder, card name, *cardname, *cardholder, *ccname, cc name, cc holder, \
         name as it appears on card, name as it appears on the card, name as shown on card, \
         name card, card owner, *cardowner, name as on card, name on the card, \
         account holder, holder name, karteninhaber, name des karteninhabers, \
         name auf der karte, kontoinhaber, titulaire de la carte, titulaire, \
         nom sur la carte, nom du titulaire, titular de la tarjeta, nombre en la tarjeta, \
         titular, nombre del titular, intestatario carta, titolare della carta, \
         intestatario, nome sulla carta, nome no cartao, titular do cartao, \
         nome impresso no cartao, naam op kaart, kaarthouder, naam kaarthouder, kortholder, \
         navn pa kort, kortinnehavare, namn pa kortet, kortholders navn, kortinhaltija, \
         kortinhaltijan nimi, imie i nazwisko na karcie, posiadacz karty, wlasciciel karty, \
         drzitel karty, jmeno na karte, имя на карте, владелец карты, имя владельца карты, \
         держатель карты, власник картки, ονομα κατοχου, κατοχοσ καρτασ, \
         kart uzerindeki isim, kart sahibi, カード名義, 名義人, カード名義人, 카드 소유자, 持卡人, 持卡人姓名, \
         اسم حامل البطاقة, الاسم على البطاقة",
    ),
    row(
        Kind::CcCsc,
        10,
        "cvv, cvc, csc, cvn, cvv2, cvc2, cid, security code, *securitycode, \
         card security code, card verification, card verification number, \
         card verification code, verification value, card code, cc csc, cc cvv, cc cvc, \
         *cvv, *cvc, card id code, card cvv, prufnummer, kartenprufnummer, sicherheitscode, \
         prufziffer, code de securite, cryptogramme, cryptogramme visuel, \
         codigo de seguridad, codigo de verificacion de la tarjeta, codice di sicurezza, \
         codice sicurezza, codigo de seguranca, beveiligingscode, veiligheidscode, \
         sikkerhedskode, sakerhetskod, sikkerhetskode, turvakoodi, kod zabezpieczajacy, \
         kod cvv, kod cvc, bezpecnostni kod, код безопасности, код cvv, код cvc, \
         код безпеки, κωδικοσ ασφαλειασ, guvenlik kodu, セキュリティコード, 보안코드, 보안 코드, 安全码, 安全碼, \
         رمز الامان, رمز الامان",
    ),
    row(
        Kind::CcExp,
        10,
        "expiration, expiration date, expiry, expiry date, *expirydate, *expirationdate, \
         card expiry, card expiration, exp date, exp, exp mm yy, valid thru, valid until, \
         valid through, good thru, mm yy, mm yyyy, mm aa, mm jj, cc exp, *ccexp, *expdate, \
         expires, expires on, date of expiry, expiration mm yy, mmyy, gultig bis, \
         ablaufdatum, gultigkeitsdatum, verfallsdatum, date d expiration, date expiration, \
         expire fin, validite, fecha de caducidad, caducidad, fecha de vencimiento, \
         vencimiento, fecha de expiracion, data di scadenza, scadenza, data de validade, \
         validade, vencimento, vervaldatum, geldig tot, vervaldag, udlobsdato, udlob, \
         utgangsdatum, giltigt till, utlopsdato, voimassa, viimeinen voimassaolopaiva, \
         data waznosci, wazna do, platnost, platnost do, datum expirace, срок действия, \
         действительна до, термін дії, ημερομηνια ληξησ, ληξη, son kullanma tarihi, \
         son kullanma, 有効期限, 유효기간, 만료일, 有效期, 到期日, تاريخ الانتهاء, تاريخ انتهاء الصلاحية",
    ),
    row(
        Kind::CcExpMonth,
        11,
        "exp month, expiration month, expiry month, *expmonth, *expirationmonth, \
         *expirymonth, cc month, cc exp month, card month, expiration date month, \
         expiry date month, month of expiry, ablaufmonat, mois d expiration, \
         mes de caducidad, mes de vencimiento, mese di scadenza, mes de validade, \
         vervalmaand, miesiac waznosci, месяц окончания, 有効期限 月, exp mm, exp date month, \
         expire month, cc expires month",
    ),
    row(
        Kind::CcExpYear,
        11,
        "exp year, expiration year, expiry year, *expyear, *expirationyear, *expiryyear, \
         cc year, cc exp year, card year, expiration date year, expiry date year, \
         year of expiry, ablaufjahr, annee d expiration, ano de caducidad, \
         ano de vencimiento, anno di scadenza, ano de validade, vervaljaar, rok waznosci, \
         год окончания, 有効期限 年, exp yy, exp yyyy, exp date year, expire year, expiration yr, \
         exp yr, cc expires year",
    ),
    row(
        Kind::CcType,
        10,
        "card type, *cardtype, credit card type, type of card, *cctype, cc type, card brand, \
         kartentyp, kartenart, type de carte, tipo de tarjeta, tipo di carta, \
         tipo de cartao, kaarttype, korttyp, korttype, typ karty, тип карты, カード種類, 카드 종류, \
         卡类型",
    ),
];

/// Amounts.
pub(super) const AMOUNTS: &[Row] = &[
    row(
        Kind::TransactionCurrency,
        8,
        "currency, wahrung, devise, moneda, valuta, moeda, waluta, mena, валюта, \
         para birimi, 通貨, 통화, 货币, العملة",
    ),
    row(
        Kind::TransactionAmount,
        6,
        "amount to pay, payment amount, donation amount, transaction amount, spendenbetrag, \
         montant du don",
    ),
];
