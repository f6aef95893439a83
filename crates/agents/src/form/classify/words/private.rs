//! What is nobody's business but the person's: numbers of persons and accounts, and the
//! answers by which people prove who they are.

use crate::form::kind::Secret;

/// Phrases that speak for such a thing. They are written as those of the kinds are.
pub(in crate::form::classify) const PRIVATE: &[(Secret, &str)] = &[
    (
        Secret::NationalId,
        "ssn, *ssnumber, driver license number, drivers license number, \
         driving licence number, numero de dni, dni nif, dni nie, documento nacional de identidad, social security, social security number, *socialsecurity, sin number, \
         social insurance number, national insurance, national insurance number, nino, national id, \
         national identity number, national identification number, *nationalid, identity number, \
         identity card number, id card number, citizen number, \
         citizen id, personal identification number, personal id number, passport number, \
         passport no, *passportnumber, \
         tax id, tax identification number, taxpayer id, \
         tax file number, tfn, itin, health insurance number, medicare number, nhs number, aadhaar, \
         aadhar, pan number, nric, hkid, sozialversicherungsnummer, \
         rentenversicherungsnummer, krankenversicherungsnummer, versichertennummer, steuer id, \
         steueridentifikationsnummer, steuernummer, personalausweisnummer, \
         ausweisnummer, passnummer, reisepassnummer, fuhrerscheinnummer, ahv nummer, \
         numero de securite sociale, securite sociale, numero fiscal, \
         numero de carte d identite, numero de passeport, nif, numero de identidad, \
         documento de identidad, numero de documento, cedula, numero de cedula, curp, \
         numero de pasaporte, seguridad social, numero de seguridad social, cuil, cpf, \
         numero do cpf, bilhete de identidade, cartao de cidadao, numero de contribuinte, niss, \
         numero do passaporte, codice fiscale, carta d identita, numero di passaporte, bsn, \
         burgerservicenummer, rijksregisternummer, paspoortnummer, identiteitskaart, personnummer, \
         samordningsnummer, passnr, cpr nummer, *cprnummer, fodselsnummer, personnr, \
         henkilotunnus, sotu, hetu, kennitala, pesel, nr dowodu, numer dowodu, \
         numer paszportu, rodne cislo, cislo obcanskeho prukazu, cislo op, cislo pasu, \
         szemelyi szam, szemelyi igazolvany, szemelyi igazolvany szama, adoazonosito, taj szam, \
         cnp, cod numeric personal, serie buletin, егн, лнч, oib, jmbg, јмбг, emso, \
         davcna stevilka, isikukood, personas kods, asmens kodas, αμκα, αφμ, \
         αριθμοσ ταυτοτητασ, αριθμοσ διαβατηριου, tc kimlik, tc kimlik no, kimlik no, \
         kimlik numarasi, pasaport no, снилс, инн, номер паспорта, серия паспорта, \
         серия и номер паспорта, ипн, рнокпп, іпн, номер паспорту, الرقم القومي, رقم الهوية, \
         رقم الاقامة, رقم جواز السفر, תעודת זהות, מספר זהות, מספר דרכון, کد ملی, \
         شماره ملی, आधार, マイナンバー, 個人番号, 旅券番号, パスポート番号, 免許証番号, 주민등록번호, 주민번호, \
         여권번호, 운전면허번호, 身份证, 身份证号, 身分證, 身分證字號, 护照号, 護照號碼, 社会保障号, cccd, cmnd, \
         can cuoc cong dan, nomor ktp, no ktp, nomor paspor, เลขบัตรประชาชน, เลขประจำตัวประชาชน",
    ),
    (
        Secret::BankAccount,
        "iban, *ibannumber, bic, bic swift, swift code, swift bic, bank account, \
         bank account number, *bankaccount, account number, account no, *accountnumber, \
         checking account, savings account, sort code, *sortcode, routing number, *routingnumber, \
         aba number, bsb, bsb number, ifsc, ifsc code, micr, transit number, institution number, \
         clabe, cbu, bank details, kontonummer, *kontonummer, konto nr, bankverbindung, \
         bankleitzahl, blz, releve d identite bancaire, numero de compte, compte bancaire, \
         coordonnees bancaires, numero de cuenta, cuenta bancaria, datos bancarios, \
         numero de conta, conta bancaria, conto corrente, numero di conto, conto bancario, \
         coordinate bancarie, rekeningnummer, bankrekening, bankrekeningnummer, bankkonto, \
         bankkontonummer, clearingnummer, registreringsnummer og kontonummer, tilinumero, \
         pankkitili, bankareikningur, numer konta, numer rachunku, rachunek bankowy, cislo uctu, \
         bankovni ucet, bankovy ucet, bankszamla, bankszamlaszam, cont bancar, numar cont, \
         банкова сметка, bankovni racun, broj racuna, број рачуна, bancni racun, pangakonto, \
         kontonumber, bankas konts, konta numurs, banko saskaita, saskaitos numeris, \
         αριθμοσ λογαριασμου, τραπεζικοσ λογαριασμοσ, hesap no, hesap numarasi, banka hesabi, \
         номер счета, банковский счет, расчетный счет, бик, номер рахунку, банківський рахунок, \
         мфо, رقم الحساب, الحساب البنكي, ايبان, חשבון בנק, מספר חשבון, شماره حساب, شماره شبا, \
         खाता संख्या, 口座番号, 銀行口座, 계좌번호, 은행계좌, 银行账号, 银行账户, 银行卡号, 銀行帳號, 銀行帳戶, \
         so tai khoan, nomor rekening, เลขที่บัญชี",
    ),
    (
        Secret::SecurityAnswer,
        "security answer, secret answer, security question, secret question, *securityanswer, \
         *secretanswer, *secanswer, answer to security question, answer to your security question, \
         challenge answer, challenge question, memorable word, memorable information, \
         memorable place, memorable date, password hint, maiden name, mother maiden name, \
         mothers maiden name, mother s maiden name, *maidenname, first pet, your first pet, pet name, \
         pets name, pet s name, name of your pet, name of your first pet, favourite teacher, \
         favorite teacher, first teacher, first school, childhood friend, childhood nickname, \
         best friend in childhood, first car, your first car, street you grew up, \
         street where you grew up, city were you born, town were you born, where did you meet, \
         sicherheitsfrage, sicherheitsantwort, geheime frage, geheime antwort, geheimfrage, \
         madchenname der mutter, madchenname ihrer mutter, madchenname deiner mutter, \
         geburtsname der mutter, erstes haustier, name ihres ersten haustiers, \
         name des ersten haustiers, question secrete, reponse secrete, question de securite, \
         reponse de securite, nom de jeune fille, nom de jeune fille de votre mere, \
         nom de jeune fille de la mere, premier animal, nom de votre premier animal, \
         pregunta de seguridad, respuesta de seguridad, pregunta secreta, respuesta secreta, \
         apellido de soltera, apellido de soltera de su madre, apellido de soltera de tu madre, \
         primera mascota, nombre de tu primera mascota, domanda segreta, risposta segreta, \
         domanda di sicurezza, risposta di sicurezza, cognome da nubile, \
         cognome da nubile di tua madre, primo animale, pergunta secreta, resposta secreta, \
         pergunta de seguranca, resposta de seguranca, nome de solteira, \
         nome de solteira da mae, primeiro animal de estimacao, geheime vraag, geheim antwoord, \
         beveiligingsvraag, meisjesnaam, meisjesnaam van je moeder, meisjesnaam van uw moeder, \
         eerste huisdier, sakerhetsfraga, hemlig fraga, mors flicknamn, forsta husdjur, \
         sikkerhedssporgsmal, hemmeligt svar, mors pigenavn, forste kaeledyr, sikkerhetssporsmal, \
         mors pikenavn, forste kjaeledyr, turvakysymys, aidin tyttonimi, ensimmainen lemmikki, \
         pytanie pomocnicze, pytanie bezpieczenstwa, nazwisko panienskie, \
         nazwisko panienskie matki, pierwsze zwierze, bezpecnostni otazka, kontrolni otazka, \
         rodne prijmeni matky, bezpecnostna otazka, biztonsagi kerdes, anyja neve, \
         intrebare de securitate, numele de fata al mamei, таен въпрос, моминско име, \
         sigurnosno pitanje, djevojacko prezime, безбедносно питање, varnostno vprasanje, \
         turvakusimus, drosibas jautajums, saugos klausimas, ερωτηση ασφαλειασ, \
         απαντηση ασφαλειασ, πατρικο ονομα μητερασ, guvenlik sorusu, gizli soru, gizli cevap, \
         annenizin kizlik soyadi, kizlik soyadi, ilk evcil hayvan, контрольный вопрос, \
         секретный вопрос, секретный ответ, девичья фамилия, \
         девичья фамилия матери, кличка питомца, кличка первого питомца, секретне питання, \
         контрольне питання, дівоче прізвище, дівоче прізвище матері, سؤال الامان, السؤال السري, \
         الجواب السري, اسم الام قبل الزواج, שאלת אבטחה, שם נעורים, سوال امنیتی, सुरक्षा प्रश्न, \
         秘密の質問, 秘密の答え, 母親の旧姓, 最初のペット, 보안 질문, 비밀 질문, 어머니 성함, 첫 애완동물, \
         安全问题, 密保问题, 密保答案, 安全問題, 母亲的姓名, 母親的姓氏, 第一只宠物, cau hoi bao mat, \
         pertanyaan keamanan, nama gadis ibu, คำถามความปลอดภัย",
    ),
];
