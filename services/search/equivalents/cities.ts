/**
 * Cities with several names. Forms of a line are the same; its first names it. Chosen by hand among the alternate names of GeoNames
 * (geonames.org, CC BY 4.0), with short forms and native spellings added.
 */
export const CITIES = `
Munich = München = Muenchen = Monaco di Baviera
Cologne = Köln = Koeln
Nuremberg = Nürnberg = Nuernberg
Hanover = Hannover
Brunswick = Braunschweig
Dusseldorf = Düsseldorf = Duesseldorf
Frankfurt = Frankfurt am Main = Frankfurt/Main
Aachen = Aix-la-Chapelle
Mainz = Mayence
Vienna = Wien
Zurich = Zürich = Zuerich
Geneva = Genève = Genf = Ginevra
Basel = Basle = Bâle
Bern = Berne
Lucerne = Luzern
The Hague = Den Haag = 's-Gravenhage = La Haye
Den Bosch = 's-Hertogenbosch
Flushing = Vlissingen
Brussels = Bruxelles = Brussel
Antwerp = Antwerpen = Anvers
Ghent = Gent = Gand
Bruges = Brugge
Liege = Liège = Luik
Leuven = Louvain
Mechelen = Malines
Ypres = Ieper
Luxembourg = Luxemburg = Lëtzebuerg
Lyon = Lyons
Marseille = Marseilles
Strasbourg = Strassburg = Straßburg
Dunkirk = Dunkerque
Nice = Nizza
Rome = Roma
Milan = Milano
Naples = Napoli
Turin = Torino
Venice = Venezia
Florence = Firenze
Genoa = Genova
Padua = Padova
Mantua = Mantova
Leghorn = Livorno
Syracuse = Siracusa
Bolzano = Bozen
Trent = Trento
Lisbon = Lisboa
Porto = Oporto
Seville = Sevilla
Saragossa = Zaragoza
Cordoba = Córdoba
Corunna = A Coruña = La Coruña
San Sebastian = Donostia
Bilbao = Bilbo
Pamplona = Iruña
Palma = Palma de Mallorca
Copenhagen = København = Koebenhavn
Elsinore = Helsingør
Aarhus = Århus
Gothenburg = Göteborg = Goteborg
Malmo = Malmö
Helsinki = Helsingfors
Turku = Åbo
Tampere = Tammerfors
Espoo = Esbo
Reykjavik = Reykjavík
Prague = Praha = Prag
Brno = Brünn
Pilsen = Plzeň
Ostrava = Ostrau
Warsaw = Warszawa = Warschau
Krakow = Cracow = Kraków = Krakau
Gdansk = Gdańsk = Danzig
Wroclaw = Wrocław = Breslau
Poznan = Poznań = Posen
Szczecin = Stettin
Lodz = Łódź
Bratislava = Pressburg
Kosice = Košice
Bucharest = București = Bukarest
Cluj = Cluj-Napoca = Klausenburg
Iasi = Iași = Jassy
Timisoara = Timișoara
Sofia = София
Plovdiv = Пловдив
Belgrade = Beograd = Београд
Novi Sad = Нови Сад
Zagreb = Agram
Ljubljana = Laibach
Sarajevo = Сарајево
Skopje = Скопје
Podgorica = Подгорица
Tirana = Tiranë
Pristina = Prishtina = Prishtinë
Athens = Athina = Αθήνα
Thessaloniki = Salonica = Salonika = Θεσσαλονίκη
Piraeus = Πειραιάς
Patras = Patra = Πάτρα
Heraklion = Iraklio = Ηράκλειο
Nicosia = Lefkosia = Λευκωσία = Lefkoşa
Limassol = Lemesos = Λεμεσός
Istanbul = İstanbul = Constantinople
Izmir = İzmir = Smyrna
Moscow = Moskva = Москва = Moskau
Saint Petersburg = St Petersburg = Sankt-Peterburg = Санкт-Петербург = Petersburg
Yekaterinburg = Ekaterinburg = Екатеринбург
Novosibirsk = Новосибирск
Nizhny Novgorod = Нижний Новгород
Kazan = Казань
Samara = Самара
Omsk = Омск
Chelyabinsk = Челябинск
Rostov-on-Don = Ростов-на-Дону
Ufa = Уфа
Krasnoyarsk = Красноярск
Perm = Пермь
Voronezh = Воронеж
Volgograd = Волгоград
Krasnodar = Краснодар
Vladivostok = Владивосток
Kaliningrad = Калининград
Sochi = Сочи
Kyiv = Kiev = Київ = Киев = Kiew
Kharkiv = Kharkov = Харків = Харьков
Odesa = Odessa = Одеса = Одесса
Dnipro = Dnepr = Дніпро = Днепр
Lviv = Lvov = Lwów = Lemberg = Львів = Львов
Zaporizhzhia = Zaporizhia = Запоріжжя
Minsk = Мінск = Минск
Chisinau = Chișinău = Kishinev
Vilnius = Wilno
Kaunas = Kowno
Riga = Rīga
Tallinn = Reval
Tbilisi = Tiflis = თბილისი
Yerevan = Erevan = Երևան
Baku = Bakı = Баку
Almaty = Алматы = Alma-Ata
Astana = Астана = Nur-Sultan
Tashkent = Toshkent = Ташкент
Bishkek = Бишкек
Cairo = Al Qahirah = القاهرة
Alexandria = الإسكندرية
Giza = الجيزة
Tel Aviv = Tel Aviv-Yafo = תל אביב = תל אביב-יפו
Jerusalem = ירושלים = القدس
Haifa = חיפה
Beirut = Beyrouth = بيروت
Damascus = دمشق
Aleppo = حلب
Amman = عمان
Baghdad = بغداد
Basra = البصرة
Tehran = Teheran = تهران
Isfahan = Esfahan = اصفهان
Shiraz = شیراز
Mashhad = مشهد
Tabriz = تبریز
Riyadh = الرياض
Jeddah = Jidda = Jiddah = جدة
Mecca = Makkah = مكة
Medina = المدينة المنورة
Dammam = الدمام
Dubai = دبي
Abu Dhabi = أبوظبي = أبو ظبي
Sharjah = الشارقة
Doha = الدوحة
Kuwait City = Al Kuwayt = الكويت
Manama = المنامة
Muscat = Masqat = مسقط
Sanaa = Sana'a = صنعاء
Casablanca = الدار البيضاء
Rabat = الرباط
Marrakesh = Marrakech = مراكش
Fes = Fez = فاس
Tangier = Tanger = طنجة
Algiers = Alger = الجزائر
Oran = وهران
Tunis = تونس
Tripoli = طرابلس
Khartoum = الخرطوم
Addis Ababa = Addis Abeba = አዲስ አበባ
Mumbai = Bombay = मुंबई
Delhi = New Delhi = दिल्ली = नई दिल्ली
Kolkata = Calcutta = কলকাতা
Chennai = Madras = சென்னை
Bengaluru = Bangalore = Bengalooru = ಬೆಂಗಳೂರು
Hyderabad = హైదరాబాద్
Pune = Poona = पुणे
Kochi = Cochin = കൊച്ചി
Thiruvananthapuram = Trivandrum
Varanasi = Benares = Banaras
Vadodara = Baroda
Mysuru = Mysore
Mangaluru = Mangalore
Puducherry = Pondicherry
Gurugram = Gurgaon
Visakhapatnam = Vizag
Ahmedabad = Ahmadabad = અમદાવાદ
Kanpur = Cawnpore
Prayagraj = Allahabad
Dhaka = Dacca = ঢাকা
Chittagong = Chattogram = চট্টগ্রাম
Kathmandu = काठमाडौं
Colombo = කොළඹ
Yangon = Rangoon = ရန်ကုန်
Mandalay = မန္တလေး
Bangkok = Krung Thep = กรุงเทพ = กรุงเทพมหานคร
Chiang Mai = เชียงใหม่
Phnom Penh = ភ្នំពេញ
Vientiane = ວຽງຈັນ
Hanoi = Hà Nội
Ho Chi Minh City = Saigon = Hồ Chí Minh = Thành phố Hồ Chí Minh = Sài Gòn
Da Nang = Đà Nẵng = Danang
Haiphong = Hải Phòng = Hai Phong
Beijing = Peking = 北京 = 北京市
Shanghai = 上海 = 上海市
Guangzhou = Canton = 广州 = 廣州 = 广州市
Shenzhen = 深圳 = 深圳市
Tianjin = Tientsin = 天津
Chongqing = Chungking = 重庆 = 重慶
Chengdu = 成都
Wuhan = 武汉 = 武漢
Hangzhou = 杭州
Nanjing = Nanking = 南京
Suzhou = 苏州 = 蘇州
Xi'an = Xian = 西安
Qingdao = Tsingtao = 青岛 = 青島
Xiamen = Amoy = 厦门 = 廈門
Shenyang = 沈阳 = 瀋陽
Harbin = 哈尔滨 = 哈爾濱
Dalian = 大连 = 大連
Changsha = 长沙 = 長沙
Zhengzhou = 郑州 = 鄭州
Jinan = 济南 = 濟南
Ningbo = 宁波 = 寧波
Kunming = 昆明
Fuzhou = 福州
Hefei = 合肥
Dongguan = 东莞 = 東莞
Foshan = 佛山
Wuxi = 无锡 = 無錫
Urumqi = Ürümqi = 乌鲁木齐 = 烏魯木齊
Lhasa = 拉萨 = 拉薩
Hong Kong = 香港
Macau = Macao = 澳门 = 澳門
Taipei = 台北 = 臺北
Kaohsiung = 高雄
Taichung = 台中 = 臺中
Tainan = 台南 = 臺南
Hsinchu = 新竹
Tokyo = Tōkyō = 東京 = 东京 = 東京都
Osaka = Ōsaka = 大阪 = 大阪市
Kyoto = Kyōto = 京都 = 京都市
Yokohama = 横浜 = 横浜市
Nagoya = 名古屋 = 名古屋市
Sapporo = 札幌 = 札幌市
Kobe = Kōbe = 神戸 = 神戸市
Fukuoka = 福岡 = 福岡市
Kawasaki = 川崎 = 川崎市
Hiroshima = 広島 = 広島市
Sendai = 仙台 = 仙台市
Nagasaki = 長崎
Seoul = 서울 = 서울특별시
Busan = Pusan = 부산 = 부산광역시
Incheon = Inchon = 인천
Daegu = Taegu = 대구
Daejeon = Taejon = 대전
Gwangju = Kwangju = 광주
Suwon = 수원
Ulsan = 울산
Pyongyang = 평양
Ulaanbaatar = Ulan Bator = Улаанбаатар
Jakarta = Djakarta
Yogyakarta = Jogjakarta
Makassar = Ujung Pandang
Kuala Lumpur = KL
George Town = Georgetown
Malacca = Melaka
Singapore = Singapura = 新加坡
Manila = Maynila
New York = New York City = NYC = Nueva York
Los Angeles = LA = L.A.
San Francisco = SF = San Fran
Washington = Washington DC = Washington, D.C. = DC
Philadelphia = Philly
Las Vegas = Vegas
New Orleans = NOLA
Salt Lake City = SLC
Saint Louis = St. Louis
Mexico City = Ciudad de México = CDMX = México DF
Montreal = Montréal
Quebec = Québec = Quebec City = Ville de Québec
Panama City = Ciudad de Panamá
Guatemala City = Ciudad de Guatemala
Havana = La Habana
Bogota = Bogotá = Santafé de Bogotá
Buenos Aires = CABA
Sao Paulo = São Paulo
Rio de Janeiro = Rio
Brasilia = Brasília
Santiago = Santiago de Chile
Asuncion = Asunción
Cape Town = Kaapstad
Johannesburg = Joburg = Jozi
Pretoria = Tshwane
Durban = eThekwini
Port Elizabeth = Gqeberha
Maputo = Lourenço Marques
Dar es Salaam = Daressalam
London = Londres = Londra
Paris = Parigi = París
Edinburgh = Édimbourg
Dublin = Baile Átha Cliath
Cork = Corcaigh
Galway = Gaillimh
Cardiff = Caerdydd
Swansea = Abertawe
Belfast = Béal Feirste
Derry = Londonderry
Newcastle = Newcastle upon Tyne
Hull = Kingston upon Hull
`;
