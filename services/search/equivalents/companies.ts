/**
 * Legal forms of companies, as people write and abbreviate them. Forms of a line are the same; its first names it. Chosen from the forms
 * that ISO 20275 lists for the 40 largest economies; written for this project.
 */
export const LEGAL_FORMS = `
inc = incorporated
corp = corporation
co = company
ltd = limited
llc = l l c = limited liability company
llp = l l p = limited liability partnership
lp = l p = limited partnership
plc = p l c = public limited company
pllc = p l l c
pc = p c = professional corporation
pvt ltd = private limited = pvt limited = private ltd = p ltd = pte ltd
pty ltd = proprietary limited = pty limited
gmbh = g m b h = gesellschaft mit beschrankter haftung
ag = a g = aktiengesellschaft
kg = k g = kommanditgesellschaft
ohg = o h g
kgaa
gbr = g b r
ug = u g = unternehmergesellschaft
ev = e v = eingetragener verein
eg = e g
se = s e = societas europaea
bv = b v = besloten vennootschap
nv = n v = naamloze vennootschap
bvba = b v b a
vof = v o f
sa = s a = societe anonyme = sociedad anonima
sas = s a s
sarl = s a r l
eurl = e u r l
snc = s n c
sci = s c i
srl = s r l
spa = s p a = societa per azioni
sl = s l = sociedad limitada
slu = s l u
sa de cv = s a de c v
sab de cv = s a b de c v
ltda = limitada
eireli
sro = s r o
as = a s = aktieselskab = aksjeselskap = akciova spolecnost
aps
asa
ab = a b = aktiebolag
oy = o y = osakeyhtio
oyj
ehf
sp z o o = sp zoo = spzoo = spolka z o o
sp j
sp k
kft = k f t
zrt = z r t
nyrt = n y r t
ood = o o d
eood
doo = d o o
dd = d d
uab
sia
ou
jsc = j s c
ooo = o o o
oao = o a o
zao = z a o
pao = p a o
ооо
оао
зао
пао
ао
тов
αε = α ε
επε = ε π ε
kk = k k = kabushiki kaisha
gk = godo kaisha
yk = yugen kaisha
bhd = berhad
sdn bhd = sendirian berhad
tbk
pt
jsc
as = anonim sirketi
ltd sti = limited sirketi
`;

/** Words between two others that a company may write as `&`, or leave out. */
export const AND_WORDS = ['and', 'und', 'et', 'y', 'e', 'og', 'och', 'en', 'ed', 'i', 'n'];
