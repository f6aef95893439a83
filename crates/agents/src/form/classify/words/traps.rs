//! How pages say that a field is a trap for robots, by language: data.

/// How one language says that a field is to be left empty.
#[derive(Clone, Copy, Debug)]
pub(in crate::form) struct Trap {
    /// The language.
    pub(in crate::form) language: &'static str,
    /// Whole phrases.
    pub(in crate::form) says: &'static str,
    /// Words for leaving something as it is; with a word for empty near by they say the same.
    pub(in crate::form) keeps: &'static str,
    /// Words for empty.
    pub(in crate::form) empty: &'static str,
    /// Words that begin a condition: `leave blank if you have none` is advice to people.
    pub(in crate::form) unless: &'static str,
}

const fn trap(
    language: &'static str,
    says: &'static str,
    [keeps, empty, unless]: [&'static str; 3],
) -> Trap {
    Trap { language, says, keeps, empty, unless }
}

/// What marks a trap in the name, the id or the class of a field and of what is around it.
pub(in crate::form) const MARKS: &str = "honeypot, *honeypot, *honey, hp field, bot trap, \
     *bottrap, *antispam, anti spam, *spamcheck, gotcha, leave blank, *leaveblank, *leaveempty, \
     leave this blank, leave this empty, leave empty, do not fill";

/// What names a trap in words that people read.
pub(in crate::form) const BAIT: &str = "honeypot, bot trap, anti spam, antispam, gotcha";

/// Words for people and robots: a condition with one of them marks a trap.
pub(in crate::form) const HUMAN: &str = "human, a person, real person, robot, robots, bot, bots, spam, \
     see this, can see, can read this, mensch, menschen, roboter, humain, etes un humain, \
     humano, humana, umano, menselijk, mens bent, manniska, menneske, ihminen, czlowiekiem, clovek, \
     ember, човек, covjek, inimene, cilveks, zmogus, ανθρωποσ, insansaniz, insan, \
     человек, людина, انسان, بشر, אנושי, בן אדם, 人間, 사람, 人类, 人類, con nguoi, manusia, มนุษย์";

/// All languages.
pub(in crate::form) const TRAPS: &[Trap] = &[
    trap(
        "en",
        "leave this field, should be left blank, must be left blank, if you are human, \
         if you re human, do not fill, don t fill, dont fill, not fill this, do not complete this, \
         do not enter anything, not be filled, nothing in this field, for robots only, \
         keep this field blank",
        [
            "leave, leaving, keep",
            "blank, empty, unfilled",
            "if, unless, when, where, to keep, for unlimited",
        ],
    ),
    trap(
        "de",
        "nicht ausfullen, nicht ausfuellen, nichts eintragen, nichts eingeben, frei lassen, \
         freilassen, leerlassen",
        [
            "lassen, lass, bleibt, bleiben, belassen",
            "leer, frei, unausgefullt",
            "wenn, falls, sofern, um",
        ],
    ),
    trap(
        "fr",
        "ne pas remplir, ne remplissez pas, ne rien saisir, ne rien ecrire, ne pas completer",
        ["laisser, laissez, laisse, doit rester", "vide, vierge, blanc", "si, sauf, pour"],
    ),
    trap(
        "es",
        "no rellenar, no rellene, no rellenes, no llenar, no llene, no completar, no complete, \
         no escriba nada",
        ["dejar, deje, deja, dejelo, dejalo", "blanco, vacio, vacia", "si, salvo, para"],
    ),
    trap(
        "pt",
        "nao preencher, nao preencha, nao escreva nada",
        ["deixe, deixar, deixa, mantenha", "branco, vazio, vazia", "se, caso, para"],
    ),
    trap(
        "it",
        "non compilare, non compili, non riempire, non scrivere nulla",
        [
            "lasciare, lascia, lasci, lasciate, lasciarlo",
            "vuoto, vuota, bianco",
            "se, qualora, per",
        ],
    ),
    trap("ca", "no ompliu, no omplir, no empleneu", ["deixar, deixeu, deixa", "blanc, buit", "si"]),
    trap(
        "nl",
        "niet invullen, vul niets in, niets invullen",
        ["laat, laten, hou, houd", "leeg, blanco", "als, indien, tenzij, om"],
    ),
    trap(
        "sv",
        "fyll inte i, fyll ej i, ska inte fyllas i, skriv inget",
        ["lamna, lat", "tomt, tom, blankt, blank", "om, ifall, for att"],
    ),
    trap(
        "da",
        "skal ikke udfyldes, udfyld ikke, ma ikke udfyldes, skriv ikke noget",
        ["lad, efterlad, hold", "tomt, tom, blankt, blank", "hvis, medmindre, for at"],
    ),
    trap(
        "nb",
        "ikke fyll ut, skal ikke fylles ut, ikke fyll inn, skriv ikke noe",
        ["la, hold, forlat", "tomt, blankt, blank", "hvis, dersom, med mindre, for a"],
    ),
    trap("is", "ekki fylla ut, fylltu ekki", ["skildu, lattu, hafdu", "tomt, audan, autt", "ef"]),
    trap(
        "fi",
        "ala tayta, ala kirjoita, ei saa tayttaa",
        ["jata, jattakaa, pida", "tyhjaksi, tyhja, tyhjana", "jos, mikali"],
    ),
    trap(
        "pl",
        "nie wypelniaj, nie wypelniac, prosimy nie wypelniac, nic nie wpisuj",
        [
            "zostaw, pozostaw, pozostawic, zostawic",
            "puste, pusty, pustym",
            "jesli, jezeli, gdy, aby",
        ],
    ),
    trap(
        "cs",
        "nevyplnujte, nevyplnovat, nic nevyplnujte, nic nevpisujte",
        [
            "nechte, nechat, ponechte, ponechejte",
            "prazdne, prazdny, nevyplnene",
            "pokud, jestlize, abyste",
        ],
    ),
    trap(
        "sk",
        "nevyplnajte, nevyplnat, nic nevyplnajte",
        ["nechajte, nechat, ponechajte", "prazdne, prazdny, nevyplnene", "ak, aby"],
    ),
    trap(
        "hu",
        "ne toltse ki, ne toltsd ki, ne irjon ide",
        ["hagyja, hagyd, maradjon", "uresen, ures", "ha, amennyiben"],
    ),
    trap(
        "ro",
        "nu completati, nu completa, nu scrieti nimic",
        ["lasati, lasa, lasa ti", "gol, goala, necompletat, liber", "daca, pentru"],
    ),
    trap("bg", "не попълвайте, не попълвай", ["оставете, остави", "празно, празен, празна", "ако"]),
    trap(
        "hr",
        "ne popunjavajte, ne ispunjavajte, nemojte ispuniti",
        ["ostavite, ostavi", "prazno, prazan", "ako"],
    ),
    trap(
        "sr",
        "не попуњавајте, ne popunjavajte",
        ["оставите, остави, ostavite", "празно, prazno", "ако, ako"],
    ),
    trap("sl", "ne izpolnjujte, ne izpolni", ["pustite, pusti", "prazno, prazen", "ce"]),
    trap("et", "ara taida, arge taitke", ["jata, jatke", "tuhjaks, tuhi", "kui"]),
    trap("lv", "neaizpildiet, neaizpildit", ["atstajiet, atstat", "tuksu, tukss", "ja"]),
    trap("lt", "nepildykite, nepildyti", ["palikite, palikti", "tuscia, tuscias", "jei, jeigu"]),
    trap(
        "el",
        "μην συμπληρωσετε, μη συμπληρωσετε, μην συμπληρωνετε, να μη συμπληρωθει",
        ["αφηστε, αφησε, αφηνετε", "κενο, αδειο, ασυμπληρωτο", "αν, εαν, εφοσον"],
    ),
    trap(
        "tr",
        "doldurmayin, doldurmayiniz, bos birakin, bos birakiniz, bos birak",
        ["birakin, birakiniz, birak, kalsin", "bos", "eger, ise, icin"],
    ),
    trap(
        "ru",
        "не заполняйте, не заполнять, не заполняй, ничего не пишите",
        [
            "оставьте, оставить, оставь",
            "пустым, пустой, пусто, незаполненным",
            "если, чтобы, когда",
        ],
    ),
    trap(
        "uk",
        "не заповнюйте, не заповнювати, не заповнюй",
        ["залиште, залишити, лишіть", "порожнім, пустим, порожнє", "якщо, щоб, коли"],
    ),
    trap(
        "ar",
        "لا تملا, لا تملأ, يرجى عدم ملء, عدم ملء هذا",
        ["اترك, اتركه, اتركها, اتركوا, يترك", "فارغا, فارغ, خاليا, فارغة", "اذا, ان كان, لكي"],
    ),
    trap(
        "he",
        "אין למלא, נא לא למלא, לא למלא, אל תמלאו",
        ["השאר, השאירו, להשאיר", "ריק, ריקה", "אם"],
    ),
    trap("fa", "پر نکنید, این قسمت را پر نکنید", ["بگذارید, رها کنید", "خالی", "اگر"]),
    trap("hi", "न भरें, मत भरें, खाली छोड़ें, खाली छोड़ दें, रिक्त छोड़ें", ["छोड़ें", "खाली, रिक्त", "यदि, अगर"]),
    trap(
        "ja",
        "入力しないで, 記入しないで, 空欄のまま, 空欄にして, 空白のまま, 空のまま, 未入力のまま, 何も入力しないで",
        ["", "", "場合, 希望しない, なければ"],
    ),
    trap(
        "ko",
        "비워두세요, 비워 두세요, 비워두십시오, 비워 두십시오, 입력하지 마세요, 작성하지 마세요, 빈칸으로 두세요",
        ["", "", "경우, 없으면"],
    ),
    trap(
        "zh",
        "请勿填写, 請勿填寫, 不要填写, 不要填寫, 请留空, 請留空, 留空此, 此处留空, 此處留空, 保持为空, 保持空白, 勿填",
        ["", "", "如果, 如无, 如無, 若"],
    ),
    trap(
        "vi",
        "khong dien, dung dien, vui long khong dien, de trong, bo trong",
        ["de, bo", "trong", "neu, khi"],
    ),
    trap(
        "id",
        "jangan diisi, jangan isi, kosongkan, biarkan kosong",
        ["biarkan", "kosong", "jika, bila, apabila"],
    ),
    trap("th", "ห้ามกรอก, อย่ากรอก, ปล่อยว่างไว้, เว้นว่างไว้, โปรดเว้นว่าง", ["", "", "ถ้า, หาก"]),
];
