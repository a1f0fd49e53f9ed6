/** States, provinces and regions with their codes and English names. Forms of a line are the same; its first names it. */
export const REGIONS = `
alabama = al
alaska = ak
arizona = az
arkansas = ar
california = ca = calif
colorado = co
connecticut = ct = conn
delaware = de
district of columbia = dc = d c = washington dc
florida = fl = fla
georgia = ga
hawaii = hi
idaho = id
illinois = il
indiana = in
iowa = ia
kansas = ks
kentucky = ky
louisiana = la
maine = me
maryland = md
massachusetts = ma = mass
michigan = mi = mich
minnesota = mn = minn
mississippi = ms
missouri = mo
montana = mt
nebraska = ne
nevada = nv
new hampshire = nh
new jersey = nj
new mexico = nm
new york = ny
north carolina = nc
north dakota = nd
ohio = oh
oklahoma = ok
oregon = or
pennsylvania = pa = penn
puerto rico = pr
rhode island = ri
south carolina = sc
south dakota = sd
tennessee = tn = tenn
texas = tx
utah = ut
vermont = vt
virginia = va
washington = wa
west virginia = wv
wisconsin = wi
wyoming = wy
guam = gu
american samoa = as
virgin islands = vi
northern mariana islands = mp
alberta = ab
british columbia = bc
manitoba = mb
new brunswick = nb
newfoundland and labrador = nl = newfoundland
nova scotia = ns
northwest territories = nt
nunavut = nu
ontario = on
prince edward island = pe = pei
quebec = qc
saskatchewan = sk
yukon = yt
new south wales = nsw
queensland = qld
south australia = sa
tasmania = tas
victoria = vic
western australia = wa
northern territory = nt
australian capital territory = act
bavaria = bayern = by
baden wurttemberg = bw
north rhine westphalia = nordrhein westfalen = nrw = nw
lower saxony = niedersachsen
saxony = sachsen
hesse = hessen
rhineland palatinate = rheinland pfalz
saxony anhalt = sachsen anhalt
thuringia = thuringen
mecklenburg western pomerania = mecklenburg vorpommern
tuscany = toscana
lombardy = lombardia
piedmont = piemonte
sicily = sicilia
sardinia = sardegna
apulia = puglia
andalusia = andalucia
catalonia = cataluna = catalunya
basque country = pais vasco = euskadi
castile and leon = castilla y leon
brittany = bretagne
normandy = normandie
burgundy = bourgogne
corsica = corse
ile de france = idf
north holland = noord holland
south holland = zuid holland
north brabant = noord brabant
flanders = vlaanderen
wallonia = wallonie
lower austria = niederosterreich
upper austria = oberosterreich
styria = steiermark
carinthia = karnten
tyrol = tirol
vienna = wien
zurich = zh
geneva = geneve = genf = ge
sao paulo = sp
rio de janeiro = rj
minas gerais = mg
maharashtra = mh
karnataka = ka
tamil nadu = tn
telangana = ts
uttar pradesh = up
west bengal = wb
gujarat = gj
`;
