//! Birthdays, persons' particulars, and what the vocabulary has no word for.

use super::{Row, row};
use crate::form::kind::Kind;

/// Days of birth and other particulars.
pub(super) const PERSON: &[Row] = &[
    row(
        Kind::Bday,
        10,
        "birthday, birth date, *birthdate, date of birth, *dateofbirth, dob, *birthday, \
         bday, born, geburtsdatum, geburtstag, geboren am, date de naissance, naissance, \
         fecha de nacimiento, nacimiento, data di nascita, nascita, data de nascimento, \
         nascimento, geboortedatum, fodselsdato, fodelsedatum, fodselsdag, syntymaaika, \
         syntymapaiva, data urodzenia, datum narozeni, szuletesi datum, data nasterii, \
         дата рождения, *рождени, дата народження, *народженн, ημερομηνια γεννησησ, \
         dogum tarihi, 生年月日, 誕生日, 생년월일, 생일, 出生日期, 生日, تاريخ الميلاد",
    ),
    row(
        Kind::BdayDay,
        11,
        "birthday day, day of birth, dob day, bday day, birthdate day, \
         birthdate d, birth d, geburtstag tag, jour de naissance, dia de nacimiento, \
         giorno di nascita, dia de nascimento, dob d, *dobday, *birthdayday",
    ),
    row(
        Kind::BdayMonth,
        11,
        "birth month, birthday month, month of birth, dob month, bday month, \
         birthdate month, birthdate m, birth m, geburtsmonat, mois de naissance, \
         mes de nacimiento, mese di nascita, mes de nascimento, dob m, *dobmonth, *birthmonth",
    ),
    row(
        Kind::BdayYear,
        11,
        "birth year, birthday year, year of birth, dob year, bday year, birthdate year, \
         birthdate y, birth y, geburtsjahr, annee de naissance, ano de nacimiento, \
         anno di nascita, ano de nascimento, dob y, *dobyear, *birthyear, geboortejaar, \
         год рождения",
    ),
    row(
        Kind::Sex,
        9,
        "gender, sex, geschlecht, sexe, genre, sexo, genero, sesso, genere, geslacht, kon, \
         kjonn, sukupuoli, plec, pohlavi, nem, gen, пол, стать, φυλο, cinsiyet, 性別, 성별, 性别, \
         الجنس, النوع",
    ),
    row(
        Kind::Language,
        8,
        "language, preferred language, sprache, langue, idioma, lingua, taal, sprak, sprog, \
         kieli, jezyk, jazyk, kalba, язык, мова, γλωσσα, dil, 言語, 언어, 语言, 語言, اللغة",
    ),
    row(Kind::Photo, 7, "photo, avatar, profile picture, profile photo, passport photo"),
];

/// What is no kind of the vocabulary, although words of one may stand in it.
pub(super) const NOTHING: &[Row] = &[row(
    Kind::None,
    12,
    "search, suche, suchen, recherche, rechercher, buscar, busqueda, cerca, \
         ricerca, pesquisar, procurar, zoeken, zoek, sog, sok, haku, szukaj, wyszukaj, \
         hledat, *поиск, искать, *пошук, αναζητηση, ara, arama, 検索, 검색, 搜索, 搜尋, بحث, query, \
         find a, filter, filter by, subject, betreff, objet, asunto del mensaje, oggetto, \
         assunto, onderwerp, emne, amne, aihe, temat, predmet, тема, θεμα, konu, 件名, 제목, 主题, \
         主題, الموضوع, message, your message, comment, comments, nachricht, kommentar, \
         commentaire, mensaje, comentario, messaggio, commento, mensagem, bericht, \
         opmerking, besked, meddelande, melding, viesti, wiadomosc, komentarz, zprava, \
         сообщение, комментарий, повідомлення, коментар, μηνυμα, mesaj, yorum, メッセージ, \
         お問い合わせ内容, 메시지, 문의 내용, 留言, 消息, الرسالة, gift message, order notes, notes, \
         anmerkungen, remarques, instructions, delivery instructions, special instructions, \
         captcha, *captcha, security question, secret question, security answer, \
         secret answer, secret question answer, your answer, retype your answer, answer, \
         *secanswer, sicherheitsfrage, sicherheitsantwort, question secrete, \
         reponse secrete, pregunta de seguridad, respuesta, domanda segreta, risposta, \
         контрольный вопрос, ответ на вопрос, 秘密の質問, 安全问题, characters shown, letters shown, \
         type the characters, text in the image, code in the image, image code, \
         are you human, antispam, anti spam, код с картинки, символы с картинки, 画像認証, \
         图形验证码, promo code, promotion code, promotional code, coupon, coupon code, \
         discount code, gift card, gift card number, voucher, voucher code, referral code, \
         invite code, invitation code, preferential code, access code, offer code, \
         gutschein, gutscheincode, rabattcode, code promo, code promotionnel, \
         bon de reduction, codigo promocional, cupon, codice promozionale, codice sconto, \
         codice coupon, cupom, kortingscode, rabatkode, rabattkod, alennuskoodi, \
         kod rabatowy, slevovy kod, промокод, купон, indirim kodu, クーポン, 쿠폰, 优惠码, 优惠券, \
         رمز الخصم, client code, urbanization code, customer reference, reference number, \
         purchase order, po number, order number, bestellnummer, tracking number, \
         invoice number, item name, name of item, product name, brand name, name of product, \
         brand, event name, project name, file name, filename, team name, group name, \
         list name, folder name, pet name, title of, email title, email subject, \
         address nickname, card nickname, card description, description, domain name ssl, \
         mother maiden name, maiden name, mothers maiden name, school name, campaign name, \
         list title, check in, check out, checkin, checkout date, arrival, departure, \
         departure date, return date, start date, end date, date in, date out, adults, \
         children, guests, rooms, room number, quantity, qty, anzahl, quantite, cantidad, \
         quantita, quantidade, aantal, antal, antall, maara, ilosc, mnozstvi, количество, \
         кількість, ποσοτητα, adet, 数量, 수량, الكمية, tax id, vat number, vat id, vat, ust id, \
         steuernummer, numero de tva, nif, cif, partita iva, codice fiscale, cpf, cnpj, \
         btw nummer, cvr, org nummer, nip, pesel, ico, dic, инн, снилс, tc kimlik, ssn, \
         social security, social security number, passport number, passport, license number, \
         driver license, driving licence, loyalty number, frequent flyer, \
         frequent flyer number, national insurance, routing number, iban, bic, swift, \
         sort code, bank account, bank name, how did you hear, remember me, \
         keep me signed in, stay signed in, angemeldet bleiben, se souvenir de moi, \
         recordarme, ricordami, lembrar me, onthoud mij, husk mig, kom ihag mig, zapamietaj, \
         запомнить меня, beni hatirla, terms, i agree, i accept, subscribe, \
         newsletter opt in, opt in, phone type, address type, account type, type of address, \
         marketing, honeypot, leave this field, leave blank, \
         leave empty, do not fill, type or choose, reviewer, age, height, weight, income, \
         salary",
)];
