//! What a list of options is a list of.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use super::phrase::Text;
use crate::form::kind::Kind;

/// Parts of a date that a list offers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// The days of a month.
    Day,
    /// The months.
    Month,
    /// Years that are past, or any.
    Year,
    /// Years of which none is past.
    YearToCome,
}

const COUNTRIES: &str = "afghanistan,albania,algeria,argentina,australia,austria,belgium,brazil,canada,chile,china,\
     colombia,denmark,egypt,finland,france,germany,greece,india,indonesia,ireland,israel,italy,japan,kenya,mexico,\
     netherlands,newzealand,norway,poland,portugal,romania,russia,spain,sweden,switzerland,turkey,ukraine,unitedkingdom,\
     unitedstates,unitedstatesofamerica,deutschland,osterreich,schweiz,frankreich,spanien,italien,allemagne,espagne,\
     italie,suisse,belgique,royaumeuni,etatsunis,espana,alemania,francia,italia,reinounido,estadosunidos,germania,spagna,\
     regnounito,brasil,alemanha,espanha,franca,nederland,belgie,duitsland,sverige,norge,danmark,suomi,polska,niemcy,cesko,\
     россия,украина,германия,франция,україна,ελλαδα,turkiye,日本,中国,中國,大韓民国,대한민국,한국,미국,美国,usa,uk";
const STATES: &str = "alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,hawaii,idaho,\
     illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,minnesota,mississippi,missouri,\
     montana,nebraska,nevada,newhampshire,newjersey,newmexico,newyork,northcarolina,ohio,oklahoma,oregon,pennsylvania,\
     tennessee,texas,utah,vermont,virginia,washington,wisconsin,wyoming,alberta,britishcolumbia,manitoba,ontario,quebec,\
     saskatchewan,novascotia,newsouthwales,queensland,victoria,tasmania,bayern,hessen,sachsen,berlin,hamburg,niedersachsen,\
     nordrheinwestfalen,madrid,barcelona,andalucia,cataluna,lombardia,lazio,sicilia,toscana,saopaulo,minasgerais,\
     riodejaneiro,bahia,maharashtra,karnataka,tamilnadu,gujarat,jalisco,yucatan,北海道,東京都,大阪府,京都府,北京,上海,广东,\
     서울특별시,경기도";
const STATE_CODES: &str = "al,ak,az,ar,ca,co,ct,de,fl,ga,hi,id,il,in,ia,ks,ky,la,me,md,ma,mi,mn,ms,mo,mt,ne,nv,nh,nj,nm,ny,\
     nc,nd,oh,ok,or,pa,ri,sc,sd,tn,tx,ut,vt,va,wa,wv,wi,wy,ab,bc,mb,nb,nl,ns,nt,nu,on,pe,qc,sk,yt,nsw,qld,tas,vic";
const MONTHS: &str = "january,february,march,april,june,july,august,september,october,november,december,jan,feb,mar,apr,may,\
     jun,jul,aug,sep,sept,oct,nov,dec,januar,februar,marz,mai,juni,juli,oktober,dezember,janvier,fevrier,mars,avril,juin,\
     juillet,aout,septembre,octobre,novembre,decembre,enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre,octubre,\
     noviembre,diciembre,gennaio,febbraio,aprile,maggio,giugno,luglio,settembre,ottobre,dicembre,janeiro,fevereiro,marco,maio,\
     junho,julho,setembro,outubro,novembro,dezembro,januari,februari,maart,mei,augustus,maj,august,tammikuu,helmikuu,\
     maaliskuu,styczen,luty,marzec,kwiecien,leden,unor,brezen,январь,февраль,март,апрель,январа,января,февраля,січень,лютий,\
     ocak,subat,mart,nisan,1月,2月,3月,4月,5月,1월,2월,3월";
const TITLES: &str = "mr,mrs,ms,miss,dr,prof,mx,sir,herr,frau,divers,monsieur,madame,mademoiselle,mme,mlle,senor,senora,sr,sra,\
     srta,signor,signora,sig,sigra,senhor,senhora,dhr,mevr,mevrouw,deheer,pan,pani,hr,fru,господин,госпожа,bay,bayan";
const SEXES: &str = "male,female,man,woman,mann,frau,mannlich,weiblich,divers,homme,femme,masculin,feminin,hombre,mujer,masculino,\
     femenino,feminino,uomo,donna,maschio,femmina,homem,mulher,vrouw,mand,kvinde,kvinna,kvinne,mies,nainen,mezczyzna,kobieta,\
     muz,zena,мужской,женский,мужчина,женщина,чоловік,жінка,erkek,kadin,男,女,男性,女性,남성,여성,남자,여자,ذكر,انثى";
const CARDS: &str = "visa,mastercard,americanexpress,amex,discover,maestro,dinersclub,jcb,unionpay,visaelectron,diners";
const LANGUAGES: &str = "english,german,french,spanish,italian,portuguese,dutch,russian,chinese,japanese,korean,arabic,deutsch,\
     francais,espanol,italiano,portugues,nederlands,polski,cestina,русский,українська,turkce,svenska,dansk,norsk,suomi,日本語,\
     中文,한국어,العربية,englisch,franzosisch";
const CURRENCIES: &str = "usd,eur,gbp,jpy,chf,cad,aud,sek,nok,dkk,pln,czk,rub,cny,inr,brl";

/// Returns the kind that a list of options speaks for.
pub(super) fn kind(options: &[(String, String)]) -> Option<Kind> {
    let labels = labels(options);
    let total = labels.len();
    if total < 2 {
        return None;
    }
    let share = |list: &str| labels.iter().filter(|label| is_one(list, label)).count();
    let most = |count: usize| count.saturating_mul(2) >= total;
    let dialled = options.iter().filter(|(label, _)| dials(label)).count();
    if dialled >= 3 && most(dialled) {
        return Some(Kind::TelCountryCode);
    }
    let named = options.iter().filter(|(label, _)| names_country(label)).count();
    if named >= 12 || (named >= 4 && most(named)) {
        return Some(Kind::Country);
    }
    let codes = share(STATE_CODES);
    let states = options.iter().filter(|(label, _)| names_state(label)).count();
    if states >= 4 && (most(states) || states >= 10) || (codes >= 6 && most(codes)) {
        return Some(Kind::AddressLevel1);
    }
    let small = |list: &str, kind: Kind| (most(share(list)) && share(list) >= 2).then_some(kind);
    small(TITLES, Kind::HonorificPrefix)
        .filter(|_| share(SEXES) < share(TITLES))
        .or_else(|| small(SEXES, Kind::Sex))
        .or_else(|| small(CARDS, Kind::CcType))
        .or_else(|| small(LANGUAGES, Kind::Language))
        .or_else(|| small(CURRENCIES, Kind::TransactionCurrency))
}

/// Returns the part of a date that a list of options offers.
pub(super) fn part(options: &[(String, String)]) -> Option<Part> {
    let labels = labels(options);
    let months =
        labels.iter().filter(|label| MONTHS.split(',').any(|month| begins(label, month))).count();
    if months >= 10 && labels.len() <= 14 {
        return Some(Part::Month);
    }
    let numbers: Vec<u32> = labels.iter().filter_map(|label| label.parse().ok()).collect();
    // A list may open with a word such as `Month`.
    if numbers.len() < 3 || numbers.len().saturating_add(2) < labels.len() {
        return None;
    }
    let (least, most) = (numbers.iter().min().copied()?, numbers.iter().max().copied()?);
    match (least, most, numbers.len()) {
        (1, 12, 12) => Some(Part::Month),
        (1, 28..=31, 28..) => Some(Part::Day),
        (2015.., ..=2100, 3..=40) => Some(Part::YearToCome),
        (15.., ..=99, 4..=30) if numbers.is_sorted() => Some(Part::YearToCome),
        (1850.., ..=2100, _) => Some(Part::Year),
        _ => None,
    }
}

/// The labels, folded, without the empty ones.
fn labels(options: &[(String, String)]) -> Vec<String> {
    let folded = options.iter().map(|(label, _)| Text::new(label).solid().to_string());
    folded.filter(|label| !label.is_empty()).collect()
}

fn is_one(list: &str, label: &str) -> bool {
    list.split(',').any(|one| one == label)
}

/// Returns whether a label begins with a word, or has it after a number: `01 - January`.
fn begins(label: &str, word: &str) -> bool {
    let rest = label.trim_start_matches(|c: char| c.is_ascii_digit());
    label == word || rest == word
}

/// Returns whether a label is a country's name, alone or with another writing after it.
fn names_country(label: &str) -> bool {
    let first = label.split(['(', ',', '/', '[']).next().unwrap_or(label);
    is_one(COUNTRIES, Text::new(first).solid())
}

/// Returns whether a label is a state's name, alone or after its code: `AL - Alabama`.
fn names_state(label: &str) -> bool {
    let mut pieces = label.split([' ', '-', '(']).peekable();
    let code = pieces.next().unwrap_or_default();
    let rest: String = pieces.collect();
    let rest = Text::new(&rest);
    is_one(STATES, Text::new(label).solid()) || (code.len() <= 3 && is_one(STATES, rest.solid()))
}

/// Returns whether a label holds a number to dial: `Germany (+49)`. The hours by which a time
/// zone differs are none: `(GMT+01:00)`.
fn dials(label: &str) -> bool {
    let mut pieces = label.split('+');
    let before = pieces.next().unwrap_or_default().trim_end();
    let after = pieces.next().unwrap_or_default().trim_start();
    let zone = before.ends_with("GMT") || before.ends_with("UTC");
    !zone && after.starts_with(|c: char| c.is_ascii_digit())
}
