//! Where people live and work: streets, towns, regions, countries, firms.

use super::{Row, row};
use crate::form::kind::Kind;

/// Postal addresses.
pub(super) const ADDRESSES: &[Row] = &[
    row(
        Kind::AddressLine2,
        10,
        "address line 2, address 2, *address2, *addressline2, line 2, street 2, \
         street address 2, street address line 2, address line two, *addresslinetwo, addr 2, \
         addr line 2, street address cont, address cont, apt, apartment, apt suite, \
         apt floor, apt suite building, suite, apartment suite, apt number, unit, \
         unit number, apt unit, floor, building, apt bldg, apt #, apartment number, \
         suite number, flat, flat number, additional address, address additional, \
         adresszusatz, adress zusatz, zusatz, zusatzliche adresse, complement d adresse, \
         complement adresse, complement, appartement, batiment, etage, piso, puerta, \
         piso puerta, direccion 2, numero interior, interno scala, indirizzo 2, complemento, \
         endereco 2, apartamento, toevoeging, huisnummer toevoeging, busnummer, adresse 2, \
         adress 2, adreslinje 2, asunto, numer mieszkania, nr lokalu, mieszkanie, *квартир, \
         кв, корпус, строение, daire, daire no, adres 2, 建物名, マンション名, 部屋番号, 상세주소, 详细地址, 門牌, \
         العنوان 2, شقة",
    ),
    row(
        Kind::AddressLine3,
        10,
        "address line 3, address 3, *address3, *addressline3, line 3, street 3, addr 3, \
         street address 3",
    ),
    row(
        Kind::AddressLine1,
        10,
        "address line 1, address 1, *address1, *addressline1, line 1, street 1, \
         street address 1, street address line 1, address line one, *addresslineone, addr 1, \
         street line 1, address line, street 0, house number and street, \
         street and house number, street and number, number and street, house number street, \
         adresszeile 1, adresse 1, direccion 1, indirizzo 1, endereco 1, \
         straat en huisnummer, strasse und hausnummer, strasse hausnummer, strasse nr, \
         strasse und nr, ulica i numer, ulice a cislo, ulice a cislo popisne, numero et rue, \
         numero y calle, calle y numero, via e numero civico, rua e numero, gade og nummer, \
         gateadresse",
    ),
    row(
        Kind::StreetAddress,
        9,
        "street address, *streetaddress, street, street name, home address, mailing address, \
         postal address, delivery address, shipping address, billing address, \
         residential address, your address, full address, address street, physical address, \
         *strasse, str, anschrift, rue, voie, nom de la rue, adresse postale, \
         adresse complete, calle, domicilio, direccion, direccion postal, via, indirizzo, \
         indirizzo di residenza, rua, endereco, morada, logradouro, straat, straatnaam, \
         adres, gatuadress, gata, gade, gate, vej, katuosoite, osoite, ulica, ulice, utca, \
         strada, *улиц, *адрес, *вулиц, адреса, *διευθυνση, οδοσ, cadde, sokak, acik adres, \
         adres satiri, 住所, 番地, 町名番地, 丁目, 도로명, 주소, 地址, 街道, 街道地址, 收货地址, العنوان, الشارع, \
         عنوان الشارع",
    ),
    row(Kind::StreetAddress, 6, "address, addr, adresse, adress, adresa, *address"),
    row(
        Kind::AddressLevel2,
        9,
        "city, town, suburb, suburb city, city town, town city, city suburb, locality, \
         city name, *cityname, ship city, municipality, post town, village, *cityinput, \
         city locality, ort, stadt, wohnort, gemeinde, ville, commune, localite, ciudad, \
         poblacion, localidad, municipio, citta, comune, localita, cidade, concelho, plaats, \
         woonplaats, stad, gemeente, by, poststed, postort, stad ort, kaupunki, \
         postitoimipaikka, kunta, miasto, miejscowosc, mesto, obec, varos, oras, localitate, \
         grad, *город, населенный пункт, *місто, населений пункт, πολη, sehir, ilce, \
         il ilce, 市区町村, 市町村, 市, 市区, 都市, 도시, 시 군 구, 城市, 城巿, المدينة, مدينة",
    ),
    row(
        Kind::AddressLevel3,
        8,
        "district, neighborhood, neighbourhood, bezirk, stadtteil, quartier, barrio, \
         colonia, bairro, quartiere, wijk, stadsdel, dzielnica, район, mahalle, 町, 区县, 区, 동",
    ),
    row(
        Kind::AddressLevel1,
        9,
        "state, province, state province, state or province, province state, \
         state province region, state region, us state, state code, *stateprovince, \
         prefecture, county state, state county, state name, ship state, state territory, \
         *provincecode, bundesland, kanton, departement, provincia, estado, \
         estado provincia, comunidad autonoma, regione, distrito, provincie, lan, fylke, \
         landskap, maakunta, wojewodztwo, kraj, zupanija, judet, megye, область, край, \
         регион, республика, регіон, νομοσ, περιφερεια, il, eyalet, 都道府県, 県, 시 도, 省, 省份, 州, \
         州省, المحافظة, الولاية, المنطقة",
    ),
    row(
        Kind::AddressLevel1,
        6,
        "region, county, prov, territory, emirate, parish, oblast, administrative area",
    ),
    row(
        Kind::PostalCode,
        10,
        "zip, zip code, *zipcode, postal code, *postalcode, post code, *postcode, \
         zip postal code, zip postal, postal, zip or postal code, ship zip, postal zip, \
         pin code, pincode, eircode, zip 4, zip plus 4, zip5, plz, *postleitzahl, \
         code postal, *codepostal, cp, codigo postal, *codigopostal, cap, codice postale, \
         codice di avviamento postale, cep, postcode, postnummer, *postnummer, post nr, \
         postnr, postinumero, kod pocztowy, psc, iranyitoszam, cod postal, postanski broj, \
         *индекс, почтовый индекс, поштовий індекс, індекс, ταχυδρομικοσ κωδικασ, ταχ κωδικασ, τ κ, \
         posta kodu, 郵便番号, 우편번호, 邮编, 邮政编码, 郵遞區號, الرمز البريدي",
    ),
    row(
        Kind::Country,
        9,
        "country, country region, country or region, region country, country of residence, \
         country territory, country name, country code, *countrycode, *country, nation, \
         land, land region, pays, pays region, pais, pais region, paese, nazione, \
         stato paese, land oder region, maa, kraj panstwo, panstwo, zeme, stat zeme, orszag, \
         tara, drzava, *страна, *країна, χωρα, ulke, olke, 国, 国名, 国 地域, 居住国, 국가, 나라, 国家, \
         国家 地区, 國家, البلد, الدولة, بلد, region of residence",
    ),
    row(Kind::Country, 5, "location, countries, residence, standort"),
];

/// Firms and posts in them.
pub(super) const WORK: &[Row] = &[
    row(
        Kind::Organization,
        9,
        "company, company name, *companyname, organization, organisation, organization name, \
         organisation name, business name, *organization, *organisation, employer, \
         institution, firm, *firma, firmenname, unternehmen, unternehmensname, arbeitgeber, \
         entreprise, societe, nom de l entreprise, raison sociale, organisme, empresa, \
         nombre de la empresa, razon social, compania, azienda, societa, ragione sociale, \
         nome azienda, nome da empresa, razao social, bedrijf, bedrijfsnaam, organisatie, \
         foretag, foretagsnamn, virksomhed, virksomhet, firmanavn, yritys, organisaatio, \
         nazwa firmy, przedsiebiorstwo, spolecnost, nazev firmy, *компани, *организаци, \
         *компані, *організаці, εταιρεια, επωνυμια, sirket, sirket adi, kurum, 会社名, 会社, 団体名, \
         所属, 회사, 회사명, 公司, 公司名称, 单位, 單位, الشركة, اسم الشركة, المؤسسة",
    ),
    row(
        Kind::OrganizationTitle,
        9,
        "job title, *jobtitle, position, job role, role title, occupation, job position, \
         job function, business title, berufsbezeichnung, beruf, fonction, poste, \
         intitule du poste, cargo, puesto, profesion, qualifica, ruolo, mansione, profissao, \
         functie, functietitel, befattning, titel jobb, stilling, jobtitel, ammatti, \
         tehtavanimike, stanowisko, pozice, povolani, должность, посада, θεση εργασιασ, \
         meslek, gorev, 役職, 職業, 직책, 직위, 职位, 职务, 職稱, المسمى الوظيفي, الوظيفة",
    ),
];
