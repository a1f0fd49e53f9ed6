/**
 * Where the people of the sample come from. Four lines per locale:
 *   country | ISO code | dial code | part of the world | how many of 220 people
 *   names of women | names of men
 *   family names
 *   city/region/first characters of its postal codes
 * `_` stands for a space; `native=latin` gives the form for addresses of names in another script.
 */
const LOCALES_TEXT = `
United States | US | +1 | Americas | 44
Emily Grace Olivia Hannah Madison Aaliyah Chloe Sarah Megan Abigail Destiny Zoe | Michael James Ethan Tyler Jamal Benjamin Caleb Lucas Andre Samuel Noah William
Johnson Williams Brown O'Connor Martinez Davis Washington McAllister Nguyen Anderson Clark Hernández Lewis Young-Baker
New York/New York/100 | San Francisco/California/941 | Austin/Texas/787 | Chicago/Illinois/606 | Boston/Massachusetts/021 | Seattle/Washington/981 | Denver/Colorado/802 | Atlanta/Georgia/303
United Kingdom | GB | +44 | Europe | 16
Charlotte Amelia Isla Poppy Imogen Saoirse Rhiannon Fiona | Oliver Harry Alistair George Callum Rhys Tobias Hamish
Smith Taylor Evans Thompson Wright O'Brien MacDonald Patel Hughes Walker-Price
London/England/EC1 | Manchester/England/M1 | Edinburgh/Scotland/EH1 | Cardiff/Wales/CF1 | Bristol/England/BS1
Germany | DE | +49 | Europe | 16
Anna Jutta Käthe Sophie Lena Heike Ursula Mareike | Jürgen Lukas Björn Maximilian Götz Stefan Günther Felix
Müller Schäfer Weiß Größmann Schmidt Köhler Vogel Böhm Fischer Krüger
Berlin/Berlin/101 | München/Bayern/803 | Köln/Nordrhein-Westfalen/506 | Hamburg/Hamburg/200 | Düsseldorf/Nordrhein-Westfalen/402
France | FR | +33 | Europe | 12
Chloé Éloïse Zoé Hélène Camille Aurélie Manon Françoise | Élie Loïc François Jérôme Théo Benoît Rémi Gaël
Lefèvre Dubois Garçon Moreau Léger Bélanger Noël Château-Martin Fournier
Paris/Île-de-France/750 | Lyon/Auvergne-Rhône-Alpes/690 | Orléans/Centre-Val_de_Loire/450 | Nîmes/Occitanie/300
Spain | ES | +34 | Europe | 9
María Lucía Begoña Inés Sofía Núria Carmen | José Iñaki Andrés Álvaro Javier Jesús Sergio
García Núñez Fernández Ibáñez Muñoz Pérez-Reverte Castaño López
Madrid/Madrid/280 | Barcelona/Cataluña/080 | A_Coruña/Galicia/150 | Málaga/Andalucía/290
Brazil | BR | +55 | Americas | 10
Conceição Letícia Júlia Antônia Luíza Fernanda Tainá | João Antônio Mário Estêvão Caíque Thiago Luís
Araújo Gonçalves Conceição Assunção Silva Magalhães Simões Guimarães
São_Paulo/São_Paulo/010 | Brasília/Distrito_Federal/700 | Florianópolis/Santa_Catarina/880 | Belém/Pará/660
Mexico | MX | +52 | Americas | 7
Ximena Guadalupe Itzel Renée Valentina Sofía | Ángel Cuauhtémoc Raúl Héctor Joaquín Martín
Rodríguez Gutiérrez Peña Zúñiga Domínguez Xicoténcatl
Ciudad_de_México/CDMX/010 | Mérida/Yucatán/970 | Querétaro/Querétaro/760
Poland | PL | +48 | Europe | 6
Agnieszka Łucja Małgorzata Zofia Święcisława Bożena | Łukasz Paweł Stanisław Michał Grzegorz Zbigniew
Kowalski Wójcik Wiśniewski Dąbrowski Błaszczyk Źrebiec Żółkiewski
Warszawa/Mazowieckie/00- | Łódź/Łódzkie/90- | Kraków/Małopolskie/30- | Gdańsk/Pomorskie/80-
Turkey | TR | +90 | - | 5
Ayşe Şirin Gülşen İpek Çiğdem Zeynep | Mehmet Çağrı Işık Oğuz Ümit Yiğit
Yılmaz Çelik Şahin Öztürk Güneş Kılıç Doğan
İstanbul/Marmara/340 | İzmir/Ege/350 | Ankara/İç_Anadolu/060
Sweden | SE | +46 | Europe | 5
Åsa Märta Linnéa Elin Ebba Sigrid | Håkan Jörgen Björn Göran Erik Åke
Ångström Lindström Sjöberg Öberg Håkansson Nyström
Stockholm/Stockholms_län/111 | Göteborg/Västra_Götaland/411 | Malmö/Skåne/211
Vietnam | VN | +84 | Asia | 4
Hương Thảo Ngọc Phượng Quỳnh Ánh | Đức Dũng Hiếu Tuấn Quốc Thịnh
Nguyễn Trần Lê Phạm Đặng Võ Huỳnh
Hà_Nội/Hà_Nội/100 | Đà_Nẵng/Đà_Nẵng/550 | Hồ_Chí_Minh/Hồ_Chí_Minh/700
Ukraine | UA | +380 | Europe | 5
Олена=olena Ірина=iryna Соломія=solomiia Юлія=yuliia Ганна=hanna Любов=liubov | Тарас=taras Олексій=oleksii Андрій=andrii Їржи=yirzhy Богдан=bohdan Микола=mykola
Шевченко=shevchenko Коваленко=kovalenko Ґудзь=gudz Бойко=boiko Щербак=shcherbak Мельник=melnyk
Київ/Київська_область/010 | Львів/Львівська_область/790 | Одеса/Одеська_область/650
Bulgaria | BG | +359 | Europe | 3
Десислава=desislava Цветелина=tsvetelina Мария=maria Йоана=yoana | Георги=georgi Иван=ivan Борислав=borislav Стоян=stoyan
Иванов=ivanov Петров=petrov Стоянов=stoyanov Димитров=dimitrov
София/София-град/100 | Пловдив/Пловдив/400 | Варна/Варна/900
Greece | GR | +30 | Europe | 5
Ελένη=eleni Αικατερίνη=aikaterini Σοφία=sofia Δήμητρα=dimitra Χαρά=chara | Γιώργος=giorgos Νίκος=nikos Αλέξανδρος=alexandros Θεόδωρος=theodoros Ηλίας=ilias
Παπαδόπουλος=papadopoulos Οικονόμου=oikonomou Γεωργίου=georgiou Ξενάκης=xenakis Αγγελόπουλος=angelopoulos
Αθήνα/Αττική/104 | Θεσσαλονίκη/Μακεδονία/546 | Ηράκλειο/Κρήτη/712
Egypt | EG | +20 | - | 5
فاطمة=fatma مريم=mariam نور=nour ياسمين=yasmin هبة=heba | محمد=mohamed أحمد=ahmed عمر=omar خالد=khaled يوسف=youssef
حسن=hassan السيد=elsayed عبدالله=abdallah منصور=mansour الشريف=elsherif
القاهرة/القاهرة/115 | الإسكندرية/الإسكندرية/215 | الجيزة/الجيزة/125
United Arab Emirates | AE | +971 | - | 3
عائشة=aisha لطيفة=latifa شيخة=shaikha | راشد=rashid سلطان=sultan حمدان=hamdan
المكتوم=almaktoum الشامسي=alshamsi الكعبي=alkaabi
دبي/دبي/000 | أبوظبي/أبوظبي/000
Israel | IL | +972 | - | 4
נועה=noa תמר=tamar שירה=shira מיכל=michal | יוסף=yosef דוד=david איתי=itai אורי=uri
כהן=cohen לוי=levi מזרחי=mizrahi פרידמן=friedman
תל_אביב/תל_אביב/610 | ירושלים/ירושלים/910 | חיפה/חיפה/310
India | IN | +91 | Asia | 12
प्रिया=priya अनन्या=ananya दीपिका=deepika सीता=sita लक्ष्मी=lakshmi Kavya Meera | राहुल=rahul अर्जुन=arjun विक्रम=vikram कृष्ण=krishna Sanjay Rohan
शर्मा=sharma सिंह=singh गुप्ता=gupta वर्मा=verma Iyer Banerjee Reddy
मुंबई/महाराष्ट्र/400 | नई_दिल्ली/दिल्ली/110 | Bengaluru/Karnataka/560 | Hyderabad/Telangana/500
China | CN | +86 | Asia | 10
丽=li 秀英=xiuying 娜=na 静=jing 晓燕=xiaoyan | 伟=wei 强=qiang 建国=jianguo 浩然=haoran 子轩=zixuan
王=wang 李=li 张=zhang 刘=liu 陈=chen 欧阳=ouyang
北京/北京市/100 | 上海/上海市/200 | 深圳/广东省/518 | 杭州/浙江省/310
Japan | JP | +81 | Asia | 9
花子=hanako さくら=sakura 美咲=misaki 由美=yumi アイ=ai | 太郎=taro 健=ken 大輔=daisuke 翔太=shota リョウ=ryo
佐藤=sato 鈴木=suzuki 高橋=takahashi 渡辺=watanabe 黒澤=kurosawa
東京/東京都/100 | 大阪/大阪府/530 | 京都/京都府/600 | 福岡/福岡県/810
South Korea | KR | +82 | Asia | 6
지현=jihyun 서연=seoyeon 민지=minji 수빈=subin | 민준=minjun 지훈=jihoon 현우=hyunwoo 도윤=doyun
김=kim 이=lee 박=park 최=choi 정=jung
서울/서울특별시/045 | 부산/부산광역시/475 | 인천/인천광역시/220
Thailand | TH | +66 | Asia | 4
สุดา=suda มาลี=malee พิมพ์ชนก=pimchanok อรทัย=orathai | สมชาย=somchai ณัฐพล=natthaphon ธนากร=thanakorn วิชัย=wichai
ศรีสุข=srisuk วงศ์สวัสดิ์=wongsawat บุญมี=boonmee ทองดี=thongdee
กรุงเทพมหานคร/กรุงเทพมหานคร/101 | เชียงใหม่/เชียงใหม่/500
Georgia | GE | +995 | - | 2
ნინო=nino თამარ=tamar ქეთევან=ketevan | გიორგი=giorgi ლევან=levan დავით=davit
ბერიძე=beridze კაპანაძე=kapanadze მაისურაძე=maisuradze
თბილისი/თბილისი/010 | ბათუმი/აჭარა/601
Ethiopia | ET | +251 | - | 2
ሰላም=selam ሀና=hana ትዕግስት=tigist | አበበ=abebe ዳዊት=dawit ተስፋዬ=tesfaye
ገብረማርያም=gebremariam ከበደ=kebede ታደሰ=tadesse
አዲስ_አበባ/አዲስ_አበባ/100 | ባሕር_ዳር/አማራ/600
`;

export type Locale = (typeof LOCALES)[number];

const columnsOf = (line: string) => line.replaceAll(' | ', '|').split('|');
const spaced = (text: string) => text.replaceAll('_', ' ');

const namesOf = (list: string) =>
  list.split(' ').map((entry) => {
    const [written = '', latin = asAscii(written)] = spaced(entry).split('=');
    return { written, latin };
  });

const citiesOf = (line: string) =>
  columnsOf(line).map((entry) => {
    const [city = '', region = '', postalPrefix = ''] = spaced(entry).split('/');
    return { city, region, postalPrefix };
  });

const asAscii = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łđßı]/g, (letter) => ({ ł: 'l', đ: 'd', ß: 'ss' })[letter] ?? 'i')
    .replace(/[^a-z]+/g, '-');

/** Every locale as often as its weight says: one picked at random comes up as often as its people do. */
export const LOCALES = [...LOCALES_TEXT.trim().matchAll(/(.+)\n(.+)\n(.+)\n(.+)/g)].flatMap(
  ([, head = '', given = '', families = '', cities = '']) => {
    const [country = '', code = '', dial = '', continent = '', weight] = columnsOf(head);
    const [women = [], men = []] = columnsOf(given).map(namesOf);
    const locale = {
      country,
      code,
      dial,
      continent,
      women,
      men,
      families: namesOf(families),
      cities: citiesOf(cities),
    };
    return Array<typeof locale>(Number(weight)).fill(locale);
  },
);
