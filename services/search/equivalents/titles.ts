/** Job titles and departments. Forms of a line are the same; its first names it. Written for this project. */
export const TITLES = `
ceo = chief executive officer = chief executive
cfo = chief financial officer = chief finance officer
coo = chief operating officer = chief operations officer
cto = chief technology officer = chief technical officer
cio = chief information officer
cmo = chief marketing officer
cpo = chief product officer = chief people officer = chief procurement officer = chief privacy officer
cro = chief revenue officer = chief risk officer
cso = chief strategy officer = chief security officer = chief sales officer
ciso = chief information security officer
chro = chief human resources officer
cdo = chief data officer = chief digital officer
cco = chief commercial officer = chief compliance officer = chief customer officer
cao = chief administrative officer = chief accounting officer
clo = chief legal officer
cxo = chief experience officer
caio = chief ai officer
vp = vice president = v p = vice pres
svp = senior vice president = sr vice president = senior vp = sr vp
evp = executive vice president = exec vice president = executive vp = exec vp
avp = assistant vice president = associate vice president = assistant vp = associate vp
rvp = regional vice president = regional vp
gvp = group vice president = group vp
md = managing director
gm = general manager
pm = product manager = project manager = program manager
am = account manager
ae = account executive
bdm = business development manager
bdr = business development representative = business development rep
sdr = sales development representative = sales development rep
csm = customer success manager
swe = software engineer
sde = software development engineer
sre = site reliability engineer
ba = business analyst
ea = executive assistant
pa = personal assistant
cpa = certified public accountant
sr = senior = snr
jr = junior = jnr
dir = director = dirctr
mgr = manager = mngr = mgmt
management = mgmt
eng = engineering = engr
eng = engineer = engr
ops = operations
rep = representative = reps
asst = assistant
assoc = associate
exec = executive
admin = administrator
admin = administration = administrative
coord = coordinator
dev = developer
dev = development
mktg = marketing = mkting = mkt
acct = accountant
acct = account = accounting = acctg
fin = finance = financial
prof = professor
pres = president
gov = governor
sen = senator
rep = congressman = congresswoman
atty = attorney
sec = secretary
supt = superintendent
supv = supervisor = spvr
spec = specialist
tech = technician
tech = technology = technical
mfg = manufacturing
intl = international
natl = national
hr = human resources = human resource
it = information technology
is = information systems
r d = research development = rnd
pr = public relations
ir = investor relations
qa = quality assurance
qc = quality control
ux = user experience
ui = user interface
bi = business intelligence
ai = artificial intelligence
ml = machine learning
biz dev = business development = bizdev = bd
m a = mergers acquisitions
fp a = financial planning analysis = fpna
l d = learning development
h s = health safety = hse
seo = search engine optimization
crm = customer relationship management
erp = enterprise resource planning
csr = corporate social responsibility
b b = business business = b2b
cofounder = co founder
hod = head of department
`;

/** Words between those of a title that a record may leave out. */
export const PREPOSITIONS = ['of', 'for', 'the', 'de', 'du', 'di'];
