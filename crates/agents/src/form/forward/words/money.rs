//! How controls and the words around them say that money is spent, by language: data.

/// What is written on controls that pay, order, bid or bind somebody to pay.
#[rustfmt::skip]
pub(super) const PAY: &[(&str, &str)] = &[
    ("en", "pay, payment, pay now, buy, purchase, order, preorder, checkout, check out, donate, \
            transfer, place order, bid, bids, bidding, rent, lease, upgrade, renew, top up, wager, \
            bet, invest, trade, deposit, start trial, free trial"),
    ("de", "bezahlen, zahlen, zahlung, kaufen, bestellen, spenden, überweisen, kasse, bieten, \
            zahlungspflichtig, kostenpflichtig, gebot, mitbieten, ersteigern, mieten, verlängern, \
            aufladen, einzahlen, vorbestellen, verbindlich, wetten"),
    ("fr", "payer, paiement, acheter, achat, commander, commande, don, virement, régler, enchérir, \
            enchère, louer, renouveler, recharger, précommander, parier, miser"),
    ("es", "pagar, pago, comprar, compra, pedido, donar, transferir, pujar, puja, ofertar, \
            alquilar, renovar, recargar, apostar, encargar, abonar"),
    ("pt", "pagar, pagamento, comprar, compra, pedido, encomendar, doar, transferir, licitar, \
            lance, dar lance, alugar, renovar, recarregar, apostar"),
    ("it", "paga, pagare, pagamento, acquista, acquisto, compra, ordina, ordine, dona, \
            fai un'offerta, noleggia, rinnova, ricarica, prenota e paga, scommetti"),
    ("nl", "betalen, betaling, kopen, koop, bestellen, bestelling, doneren, afrekenen, bieden, bod, \
            huren, verlengen, opwaarderen, betalingsverplichting, met betaalplicht"),
    ("sv", "betala, betalning, köp, köpa, beställ, beställning, kassan, kassa, donera, skänk, bud, \
            lägg bud, hyr, förnya"),
    ("da", "betal, betaling, køb, bestil, ordre, doner, støt, bud, byd, lej, forny, \
            til kassen"),
    ("nb", "betal, betaling, kjøp, bestill, ordre, doner, bud, gi bud, lei, forny, \
            til kassen"),
    ("fi", "maksa, maksu, osta, tilaa, tilaus, lahjoita, tarjoa, huuda, huutaa, vuokraa, uusi tilaus, \
            kassalle"),
    ("is", "greiða, borga, kaupa, panta, bjóða, gefa"),
    ("pl", "zapłać, płatność, kup, kupuję, zamów, zamawiam, zamówienie, wpłać, licytuj, \
            wynajmij, odnów, doładuj, z obowiązkiem zapłaty, dotuj, wesprzyj"),
    ("cs", "zaplatit, platba, koupit, objednat, objednávka, darovat, přihodit, přispět, pronajmout, \
            obnovit, zavazující k platbě"),
    ("sk", "zaplatiť, platba, kúpiť, objednať, objednávka, darovať, prihodiť, prispieť, \
            s povinnosťou platby"),
    ("hu", "fizetés, fizetek, fizet, vásárlás, vásárolok, vásárol, megrendelés, megrendelem, \
            megveszem, adományozok, licitálok, licit"),
    ("ro", "plătește, plata, plăti, cumpără, comandă, comanda, donează, licitează, reînnoiește"),
    ("bg", "плати, плащане, купи, поръчай, поръчка, дари, наддай"),
    ("hr", "plati, plaćanje, kupi, naruči, narudžba, doniraj, licitiraj"),
    ("sr", "плати, плаћање, купи, наручи, поруџбина, донирај, лицитирај, плаћам"),
    ("sl", "plačaj, plačilo, kupi, naroči, naročilo, doniraj, licitiraj"),
    ("et", "maksa, maksmine, osta, telli, tellimus, anneta, paku"),
    ("lv", "maksāt, maksājums, pirkt, pasūtīt, pasūtījums, ziedot, solīt"),
    ("lt", "mokėti, mokėjimas, pirkti, užsakyti, užsakymas, aukoti, siūlyti kainą"),
    ("el", "πληρωμή, πληρώστε, πληρωσε, αγορά, αγοράστε, παραγγελία, παραγγείλετε, δωρεά, \
            προσφορά"),
    ("tr", "öde, ödeme, satın, satın al, sipariş, sipariş ver, bağış, bağış yap, teklif ver, kirala"),
    ("ru", "оплатить, оплата, купить, покупка, заказать, заказ, пожертвовать, перевести, ставка, \
            сделать ставку, арендовать, продлить, пополнить, внести"),
    ("uk", "оплатити, оплата, купити, замовити, замовлення, пожертвувати, переказати, зробити ставку, \
            орендувати, поповнити"),
    ("ar", "دفع, ادفع, شراء, اشتر, اشتري, طلب, اطلب, تبرع, مزايدة, زايد, تحويل"),
    ("he", "שלם, לתשלום, תשלום, קנה, קנייה, הזמן, הזמנה, תרום, הצע מחיר"),
    ("fa", "پرداخت, خرید, سفارش, اهدا, پیشنهاد قیمت"),
    ("hi", "भुगतान, खरीदें, ऑर्डर, दान, बोली"),
    ("ja", "支払, 購入, 注文, 買う, 入札, 寄付, 決済, 申し込んで支払, 振込, 課金"),
    ("ko", "결제, 구매, 주문, 입찰, 기부, 후원하기, 송금"),
    ("zh", "支付, 付款, 购买, 購買, 下单, 下單, 结账, 結帳, 出价, 出價, 竞拍, 捐款, 捐赠, 捐贈, 转账, 轉帳, 充值, 订购, 訂購"),
    ("vi", "thanh toán, mua, mua ngay, đặt hàng, đặt mua, quyên góp, đấu giá, chuyển khoản"),
    ("id", "bayar, pembayaran, beli, pesan sekarang, pesanan, donasi, tawar, transfer"),
    ("th", "ชำระเงิน, จ่ายเงิน, ซื้อ, สั่งซื้อ, บริจาค, ประมูล, โอนเงิน"),
];

/// What is written on controls that subscribe, which may cost something every month.
#[rustfmt::skip]
pub(super) const SUBSCRIBE: &[&str] = &[
    "subscribe", "subscription", "become a member", "abonnieren", "abo abschließen", "abonner",
    "s'abonner", "je m'abonne", "suscribirse", "suscribirme", "suscríbete", "abbonati", "assinar",
    "subscrever", "abonneren", "prenumerera", "abonner nå", "tilaa jäsenyys", "subskrybuj",
    "odebírat", "odoberať", "előfizetek", "előfizetés", "abonează te", "абонирай се", "pretplati se",
    "претплати се", "naroči se", "telli ajakiri", "abonēt", "prenumeruoti", "συνδρομή",
    "εγγραφή συνδρομητή", "abone ol", "подписаться", "оформить подписку", "підписатися", "اشترك",
    "اشتراك", "הירשם למנוי", "اشتراک", "सदस्यता", "購読", "定期購入", "구독", "订阅", "訂閱",
    "đăng ký gói", "berlangganan", "สมัครสมาชิก",
];

/// What is subscribed to for nothing: a control that names it only has news sent.
#[rustfmt::skip]
pub(super) const NEWS: &[&str] = &[
    "newsletter", "newsletters", "news", "updates", "mailing list", "email", "e mail", "emails",
    "blog", "feed", "rss", "rundbrief", "lettre d information", "infolettre", "actualités",
    "boletín", "noticias", "novedades", "notizie", "novità", "notícias", "novidades", "nieuwsbrief",
    "nyhetsbrev", "nyhedsbrev", "uutiskirje", "biuletyn", "novinky", "hírlevél", "noutăți",
    "бюлетин", "novosti", "новости", "рассылку", "новини", "розсилку", "ενημερωτικό δελτίο",
    "bülten", "haber bülteni", "النشرة", "ניוזלטר", "خبرنامه", "メルマガ", "メールマガジン", "ニュース",
    "뉴스레터", "소식", "邮件", "新闻", "電子報", "bản tin", "buletin", "จดหมายข่าว",
];

/// Words beside a control by which pressing it costs something.
#[rustfmt::skip]
pub(super) const COSTS: &[(&str, &str)] = &[
    ("en", "pay, you pay, pays, payment, charged, billed, billing, purchase, buy, \
            buying, fee, fees, price, amount due, total due, due today, direct debit, non refundable, \
            subscription, auto renews, renews, renewal, binding bid, binding offer, obligation to pay"),
    ("de", "zahlen, bezahlen, zahlung, kostenpflichtig, zahlungspflichtig, gebühr, gebühren, preis, \
            gesamtpreis, gesamtbetrag, betrag, abgebucht, lastschrift, kaufen, bestellen, abonnement, \
            verbindlich, kosten"),
    ("fr", "payer, paiement, prix, montant, frais, facturé, débité, prélèvement, acheter, achat, \
            abonnement, obligation de paiement"),
    ("es", "pagar, pago, precio, importe, cobro, cobrará, facturará, comprar, compra, \
            suscripción, tarifa, obligación de pago"),
    ("pt", "pagar, pagamento, preço, valor a pagar, cobrado, cobrança, débito, comprar, compra, taxa, \
            subscrição, assinatura mensal"),
    ("it", "pagare, pagamento, paga, prezzo, importo, addebito, addebitato, acquisto, acquistare, \
            tariffa, abbonamento, obbligo di pagamento"),
    ("nl", "betalen, betaalt, betaling, prijs, kosten, bedrag, afgeschreven, incasso, kopen, \
            aankoop, abonnement, betalingsverplichting"),
    ("sv", "betala, betalar, betalning, kostnad, avgift, debiteras, köp, köper, prenumeration, \
            totalbelopp"),
    ("da", "betale, betaler, betaling, gebyr, opkræves, køb, køber, abonnement, beløb"),
    ("nb", "betale, betaler, betaling, gebyr, belastes, kjøp, kjøper, abonnement, beløp"),
    ("fi", "maksat, maksaa, maksu, hinta, veloitetaan, veloitus, osto, ostat, tilausmaksu, summa"),
    ("is", "greiða, greiðsla, verð, gjald, kaupa"),
    ("pl", "zapłacisz, zapłata, płatność, cena, opłata, kwota, pobrana, zakup, kupujesz, subskrypcja, \
            z obowiązkiem zapłaty"),
    ("cs", "zaplatíte, platba, cena, poplatek, částka, strhneme, nákup, předplatné"),
    ("sk", "zaplatíte, platba, cena, poplatok, suma, nákup, predplatné"),
    ("hu", "fizet, fizetés, fizetési kötelezettség, díj, összeg, vásárlás, előfizetés"),
    ("ro", "plătiți, plata, preț, taxă, sumă, achiziție, abonament, obligație de plată"),
    ("bg", "плащате, плащане, цена, такса, сума, покупка, абонамент"),
    ("hr", "plaćate, plaćanje, cijena, naknada, iznos, kupnja, pretplata"),
    ("sr", "плаћате, плаћање, цена, накнада, износ, куповина, претплата"),
    ("sl", "plačate, plačilo, cena, pristojbina, znesek, nakup, naročnina"),
    ("et", "maksate, makse, hind, tasu, summa, tellimus"),
    ("lv", "maksājat, maksājums, cena, maksa, summa, pirkums, abonements"),
    ("lt", "mokate, mokėjimas, kaina, mokestis, suma, pirkimas, prenumerata"),
    ("el", "πληρώνετε, πληρωμή, τιμή, χρέωση, ποσό, αγορά, συνδρομή"),
    ("tr", "ödeme, ödersiniz, ücret, fiyat, tutar, tahsil, satın alma, abonelik"),
    ("ru", "оплата, оплатите, заплатите, цена, стоимость, сумма, комиссия, списано, спишем, покупка, \
            подписка"),
    ("uk", "оплата, сплатите, ціна, вартість, сума, комісія, буде списано, купівля, передплата"),
    ("ar", "الدفع, تدفع, السعر, المبلغ, رسوم, شراء, اشتراك, خصم"),
    ("he", "תשלום, תשלמו, מחיר, סכום, עמלה, רכישה, מנוי, חיוב"),
    ("fa", "پرداخت, قیمت, مبلغ, هزینه, خرید, اشتراک"),
    ("hi", "भुगतान, मूल्य, शुल्क, राशि, खरीद"),
    ("ja", "支払, 料金, 価格, 金額, 合計, 請求, 購入, 課金, 有料"),
    ("ko", "결제, 요금, 가격, 금액, 합계, 청구, 구매, 유료"),
    ("zh", "支付, 付款, 费用, 費用, 价格, 價格, 金额, 金額, 合计, 合計, 扣款, 购买, 購買, 收费, 收費"),
    ("vi", "thanh toán, số tiền, tổng cộng, mua"),
    ("id", "pembayaran, membayar, harga, biaya, jumlah, pembelian, langganan"),
    ("th", "ชำระเงิน, ราคา, ค่าธรรมเนียม, ยอดรวม, จำนวนเงิน, ซื้อ"),
];

/// Signs of currencies.
pub(super) const SIGNS: &[char] = &[
    '$', '£', '€', '¥', '￥', '₹', '₽', '₩', '₺', '₴', '₫', '₪', '₱', '฿', '₦', '₲', '₡', '₸', '₿',
    '₾', '₼', '元', '円', '圓', '圆', '원', '﷼',
];

/// Codes of currencies, which count only in capitals: `try 3` is not a price.
#[rustfmt::skip]
pub(super) const CODES: &[&str] = &[
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "RMB", "SEK", "NOK", "DKK", "ISK", "PLN", "CZK",
    "HUF", "RON", "BGN", "RSD", "TRY", "RUB", "UAH", "INR", "KRW", "BRL", "MXN", "ARS", "CLP",
    "COP", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "THB", "IDR", "VND", "PHP", "ZAR", "ILS",
    "AED", "SAR", "EGP", "NGN", "KES", "PKR", "BDT", "IRR", "BTC", "ETH", "USDT",
];

/// Words of currencies.
#[rustfmt::skip]
pub(super) const COINS: &[&str] = &[
    "euro", "euros", "dollar", "dollars", "pounds", "quid", "francs", "franken", "kr", "kronor",
    "kroner", "kn", "zł", "zl", "kč", "kc", "forint", "lei", "лв", "лева", "руб", "рублей", "рубля",
    "грн", "гривень", "дин", "tl", "lira", "rs", "rupees", "rp", "ريال", "درهم", "جنيه", "دينار",
    "تومان", "שקל", "ש״ח", "baht", "บาท", "đồng", "रुपये", "pesos", "reais",
];

/// Words for a sum that is due.
#[rustfmt::skip]
pub(super) const TOTAL: &[&str] = &[
    "total", "sum", "amount", "summe", "gesamt", "gesamtsumme", "montant", "importe", "totale",
    "totaal", "totalt", "summa", "i alt", "yhteensä", "razem", "suma", "celkem", "spolu", "összesen",
    "общо", "ukupno", "укупно", "skupaj", "kokku", "kopā", "iš viso", "σύνολο", "toplam", "итого",
    "всего", "разом", "المجموع", "الإجمالي", "סהכ", "مجموع", "कुल", "合計", "합계", "总计", "總計",
    "tổng cộng", "รวม",
];
