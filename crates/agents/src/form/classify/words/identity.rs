//! How people are named and reached: names, accounts, mail, telephone.

use super::{Row, row};
use crate::form::kind::Kind;

/// Names of people.
pub(super) const NAMES: &[Row] = &[
    row(
        Kind::GivenName,
        10,
        "first name, *firstname, given name, *givenname, fname, f name, *forename, \
         first or given name, christian name, first names, your first name, name first, \
         first, *vorname, rufname, *prenom, nombre de pila, primer nombre, nombres, \
         nome proprio, primeiro nome, voornaam, roepnaam, *fornavn, *fornamn, tilltalsnamn, \
         etunimi, imie, krestni jmeno, keresztnev, prenume, ime, *имя, ім'я, ім я, \
         adi, ad, isim, adiniz, 名, 名前 名, お名前 名, 下の名前, 이름, 名字, الاسم الاول, الاسم الاول",
    ),
    row(
        Kind::FamilyName,
        10,
        "last name, *lastname, *surname, family name, *familyname, lname, l name, \
         second name, name last, last names, last, *nachname, *familienname, zuname, \
         nom de famille, apellido, apellidos, primer apellido, segundo apellido, *cognome, \
         *sobrenome, apelido, ultimo nome, *achternaam, familienaam, *efternavn, *efternamn, \
         *etternavn, *sukunimi, *nazwisko, *prijmeni, prezime, vezeteknev, nume de familie, \
         *фамили, *прізвищ, *επωνυμο, επιθετο, soyadi, soyad, soy isim, soyadiniz, 姓, 苗字, \
         名字 姓, お名前 姓, 성, 姓氏, اسم العائلة, اللقب, الكنية",
    ),
    row(
        Kind::AdditionalName,
        10,
        "middle name, *middlename, middle initial, mname, m name, additional name, \
         second given name, *patronymic, zweiter vorname, deuxieme prenom, segundo nombre, \
         secondo nome, nome do meio, tussenvoegsel, mellemnavn, mellannamn, mellomnavn, \
         toinen nimi, drugie imie, prostredni jmeno, *отчество, по батькові, *πατρωνυμο, \
         ikinci ad, ミドルネーム, 中间名, الاسم الاوسط, mi",
    ),
    row(
        Kind::Name,
        8,
        "full name, *fullname, your name, real name, *realname, complete name, \
         first and last name, first last name, name and surname, name surname, contact name, \
         contact person, recipient name, name of recipient, addressee, recipient, \
         customer name, person name, legal name, billing name, shipping name, ship to name, \
         cust name, buyer name, guest name, attendee name, passenger name, applicant name, \
         name of applicant, profile name, *profilename, vor und nachname, \
         vollstandiger name, ihr name, vorname nachname, vorname und nachname, \
         ansprechpartner, nom complet, nom et prenom, prenom et nom, votre nom, nom prenom, \
         nombre completo, nombre y apellidos, nombre y apellido, su nombre, tu nombre, \
         nome completo, nome e cognome, nome cognome, il tuo nome, nome e sobrenome, \
         seu nome, volledige naam, uw naam, je naam, voor en achternaam, fulde navn, \
         fullt navn, fullstandigt namn, for och efternamn, koko nimi, etu ja sukunimi, \
         imie i nazwisko, jmeno a prijmeni, cele jmeno, teljes nev, nume complet, *фио, \
         полное имя, имя и фамилия, ваше имя, піб, повне ім'я, ονοματεπωνυμο, ad soyad, \
         adi soyadi, isim soyisim, adiniz soyadiniz, 氏名, お名前, 名前, 성명, 성함, 姓名, الاسم الكامل, \
         الاسم بالكامل",
    ),
    row(
        Kind::Name,
        6,
        "name, nom, nombre, nome, naam, navn, namn, nimi, nazwa, jmeno, nev, nume, \
         ονομα, الاسم, your names",
    ),
    row(
        Kind::HonorificPrefix,
        9,
        "honorific prefix, salutation, name prefix, name title, title mr, anrede, civilite, \
         tratamiento, trattamento, forma de tratamento, aanhef, aanspreektitel, titel, \
         tiltale, tilltal, puhuttelu, osloveni, zwrot grzecznosciowy, обращение, звернення, \
         προσφωνηση, hitap, unvan, 敬称, 称谓, 稱謂, 호칭, اللقب الشرفي, courtesy title",
    ),
    row(Kind::HonorificPrefix, 5, "title, prefix, titre, titulo, titolo, tytul, titul"),
    row(
        Kind::HonorificSuffix,
        8,
        "suffix, name suffix, honorific suffix, suffixe, sufijo, suffisso, sufixo, \
         namenszusatz",
    ),
    row(
        Kind::Nickname,
        8,
        "nickname, nick name, nick, spitzname, surnom, apodo, soprannome, apelido carinhoso, \
         bijnaam, kaldenavn, smeknamn, lempinimi, pseudonim, prezdivka, никнейм, псевдонім, \
         ψευδωνυμο, takma ad, ニックネーム, 닉네임, 별명, 昵称, 暱稱, اسم مستعار, alias",
    ),
];

/// Names of accounts.
pub(super) const ACCOUNTS: &[Row] = &[
    row(
        Kind::Username,
        9,
        "user name, *username, user id, *userid, login name, *loginname, sign in name, \
         login id, *loginid, *signinid, user login, *userlogin, screen name, *screenname, \
         account name, *accountname, account id, *accountid, member id, *memberid, \
         member name, membership number, customer id, customer number, client id, \
         client number, online id, access id, user code, logon id, log in id, sign on id, \
         employee id, employee number, student id, net id, unique id, identifier, \
         user name or email, email or username, username or email, email or user name, \
         user name email, username email, email username, email or phone, email or mobile, \
         phone or email, mobile or email, phone email, email phone, email address or phone, \
         email address or mobile, email address or username, username or e mail, \
         e mail or username, mail tel, email or nickname, email or member, \
         email address or account, email or account, email or customer, email or id, \
         choose a username, user account, *benutzername, *nutzername, benutzerkennung, \
         *anmeldename, benutzer id, mitgliedsname, kundennummer, zugangsnummer, \
         nom d utilisateur, nom utilisateur, identifiant, code utilisateur, \
         *codeutilisateur, pseudo, pseudonyme, identifiant client, nombre de usuario, \
         usuario, identificador, codigo de usuario, nome utente, codice utente, utente, \
         codice cliente, cod user, nome de usuario, nome de utilizador, utilizador, \
         codigo de cliente, gebruikersnaam, gebruiker, klantnummer, brugernavn, bruger id, \
         anvandarnamn, anvandar id, brukernavn, bruker id, kayttajatunnus, kayttajanimi, \
         nazwa uzytkownika, login uzytkownika, uzytkownik, uzivatelske jmeno, \
         prihlasovaci jmeno, uzivatel, felhasznalonev, nume utilizator, korisnicko ime, \
         prisijungimo vardas, vartotojo vardas, имя пользователя, *пользовател, *логин, \
         учетная запись, личный счет, *логін, ім'я користувача, користувач, *потребител, \
         ονομα χρηστη, χρηστησ, *kullaniciadi, kullanici adi, kullanici kodu, kullanici, \
         istifadeci adi, istifadəci kodu, istifadəci adi, ユーザー名, ユーザ名, ユーザーid, ユーザid, \
         ログインid, 会員id, 会員番号, 契約番号, お客様番号, アカウント名, アカウント, 사용자 이름, 사용자 id, 아이디, 사용자명, 用户名, \
         用戶名, 使用者名稱, 账号, 帐号, 帳號, 账户名, 登录名, 登入帳號, 会员名, 会员账号, اسم المستخدم, معرف المستخدم",
    ),
    row(
        Kind::Username,
        7,
        "login, logon, userfield, uid, usr, signin, handle, account, acct, \
         account number, kennung, konto, compte, cuenta, conto, conta, txt user, \
         login field, uname, u name, identity, konto nr",
    ),
    row(Kind::Username, 5, "user"),
    row(Kind::Username, 4, "id, identification, member, identifiant, identificatie, tunnus"),
];

/// Mail and telephone.
pub(super) const REACHED: &[Row] = &[
    row(
        Kind::Email,
        10,
        "email, e mail, email address, e mail address, mail address, *emailaddress, *email, \
         electronic mail, confirm email, re enter email, email adres, e mail adres, \
         emailadresse, e mail adresse, mail adresse, adresse email, adresse e mail, \
         adresse mail, adresse electronique, adresse de courriel, courriel, \
         courrier electronique, *courriel, mel, correo electronico, correo, \
         direccion de correo, direccion de email, e mail adresi, eposta, e posta, \
         e posta adresi, *eposta, indirizzo email, indirizzo e mail, \
         indirizzo di posta elettronica, posta elettronica, endereco de email, \
         endereco de e mail, correio eletronico, e postadress, epostadress, e post, epost, \
         e postadresse, epostadresse, sahkoposti, sahkopostiosoite, adres email, \
         adres e mail, poczta elektroniczna, emailova adresa, e mailova adresa, email cim, \
         e mail cim, adresa de email, el pasto adresas, el pastas, почта, почты, почтовый ящик, электронной почты, \
         электронная почта, адрес электронной почты, е mail, емейл, емайл, \
         электронный адрес, електронна пошта, пошта, пошти, електронної пошти, \
         ηλεκτρονικο ταχυδρομειο, διευθυνση email, διευθυνση ηλεκτρονικου ταχυδρομειου, \
         メールアドレス, メール, eメール, 이메일, 이메일 주소, 메일 주소, 邮箱, 电子邮箱, 电子邮件, 邮箱地址, 電子郵件, 電子信箱, 信箱, \
         البريد الالكتروني, البريد الالكتروني, بريد الكتروني, البريد",
    ),
    row(Kind::Email, 7, "mail, mailbox, e address, eaddress, email id, posta"),
    row(
        Kind::Tel,
        9,
        "phone, telephone, *telephone, phone number, telephone number, mobile, \
         mobile number, mobile phone, cell phone, cellphone, cell, cell number, \
         *phonenumber, *phone, contact number, daytime phone, home phone, work phone, tel, \
         tel no, phone no, mobile no, msisdn, telefon, *telefon, *telefonnummer, rufnummer, \
         handy, handynummer, mobilnummer, mobiltelefon, numero de telephone, portable, \
         numero de portable, mobile portable, *telefono, numero de telefono, movil, celular, \
         telefono movil, numero di telefono, cellulare, numero di cellulare, *telefone, \
         numero de telefone, telemovel, telefoonnummer, *telefoon, mobiel, mobiel nummer, \
         gsm, telefonnummer, puhelin, *puhelinnumero, matkapuhelin, numer telefonu, \
         *telefonu, komorka, telefonni cislo, mobilni telefon, *телефон, номер телефона, \
         мобильный, мобільний, *τηλεφωνο, κινητο, telefon numarasi, cep telefonu, \
         mobil nomre, mobil nomrə, 電話番号, 電話, 携帯電話, 携帯番号, 전화번호, 휴대폰, 휴대전화, 연락처, 电话, 手机, 手机号, \
         手机号码, 電話號碼, 手機, 手機號碼, 联系电话, هاتف, رقم الهاتف, الجوال, رقم الجوال, الموبايل, whatsapp",
    ),
    row(
        Kind::TelCountryCode,
        10,
        "phone country code, country calling code, calling code, dial code, dialing code, \
         dialling code, country dial code, *dialcode, phone code, phone prefix, \
         mobile prefix, phone country, *phonecountry, *countrycallingcode, tel country code, \
         landesvorwahl, landervorwahl, indicatif pays, indicatif, prefijo telefonico, \
         prefisso internazionale, codigo do pais telefone, landcode telefoon, код страны, \
         mobile country code, *mobilecountrycode, *phonecountrycode, 国番号, 국가번호, 国际区号, 区号, \
         international dialing code, isd code",
    ),
    row(
        Kind::TelAreaCode,
        9,
        "area code, *areacode, phone area, vorwahl, ortsvorwahl, indicatif regional, \
         prefijo, prefisso, ddd, netnummer, 市外局番",
    ),
    row(Kind::TelLocal, 7, "phone local, local number, phone suffix, phone line, phone exchange"),
    row(
        Kind::TelExtension,
        9,
        "extension, phone extension, phone ext, tel ext, ext, extn, durchwahl, \
         poste telephonique, interno, ramal, 内線",
    ),
    row(
        Kind::Url,
        8,
        "website, web site, homepage, home page, web address, url, website url, \
         your website, webseite, internetseite, site web, sitio web, sito web, pagina web, \
         hemsida, hjemmeside, strona internetowa, веб сайт, сайт, ウェブサイト, 홈페이지, 网站, 网址, \
         الموقع الالكتروني",
    ),
    row(
        Kind::Impp,
        7,
        "instant messaging, impp, skype, skype name, icq, jabber, telegram, messenger id",
    ),
];
