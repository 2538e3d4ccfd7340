"""The word lists of the embedded corpus.

An entry may have several spellings (``laceration = lac``), the usual one first. Entries after ``//`` are held out: they
never occur in the training split. Many names of diseases and drugs are invented, and so is every combination.
"""

from __future__ import annotations

from functools import cache

from hyperspan.corpora.demo.grammar import Entry, parse_entry

OPEN = {
    # Findings
    "sign": """tenderness, swelling = swellng, numbness, stiffness, weakness, tingling, redness, bruising, cramping,
        burning, aching, soreness, discomfort, pain = pian, paresthesia, spasm, warmth, itching, crepitus, guarding
        // throbbing, prickling, puffiness, heaviness""",
    "lesion": """laceration = lac, ulcer, hematoma, abscess, polyp, mass, cyst, nodule, fracture = fx, stricture,
        erosion, thrombus, infarct, hemorrhage = hemorrhge = bleed, calcification, scar, fistula, aneurysm, plaque,
        adhesion, varix, dissection, granuloma, contusion, hypodensity
        // perforation, diverticulum, hemangioma, lipoma, opacity""",
    "fluid": "blood, pus, mucus, bile, fluid, clot, exudate, drainage, froth, air, debris // chyle, sediment",
    "look": "dark, black, bloody, green, brown, tarry, pink, cloudy, foamy, rusty // maroon, purple",
    "matter": "material, stuff, liquid, matter, sputum, discharge, slime // residue, flecks",
    "disease": """hypertension = HTN, diabetes mellitus = DM = DM2, pneumonia = PNA, atrial fibrillation = afib = AF,
        asthma, gout, anemia = anemai, sepsis, hypothyroidism, pancreatitis, coronary artery disease = CAD,
        heart failure = CHF, chronic kidney disease = CKD, hepatitis, cirrhosis, osteoporosis, migraine, depression,
        hyperlipidemia = HLD, sleep apnea = OSA, urinary tract infection = UTI, deep vein thrombosis = DVT, cellulitis,
        bronchitis, emphysema = COPD, velmitis, ostropathy, Karn syndrome, marrolosis, tessic fever, quellosis,
        brannitis, duroplasia, Hobbin disease, lumen sickness
        // psoriasis, sinusitis, thalassemia, Ebbert syndrome, pellanitis, corvadosis, gallstones = cholelithiasis""",
    "symptom": """fever = fevers, chills, nausea, dizziness, syncope, cough, fatigue = fatiuge, palpitations,
        shortness of breath = SOB, chest pain = CP, headache = HA, diarrhea = diarrhoea, constipation,
        night sweats, weight loss, confusion, hematuria, hemoptysis, insomnia, anorexia, wheezing, tremor
        // hoarseness, vertigo, drowsiness, hiccups""",
    "event": """stroke, seizure, fall, heart attack, miscarriage, overdose, cardiac arrest, blackout
        // concussion, stumble""",
    "substance": "ethanol = etoh, opiate, cocaine, nicotine, barbiturate, alcohol, velbrinol // ketamine, solvent",
    "dependence": "intoxication, withdrawal, abuse, dependence, poisoning, misuse // craving, addiction",
    "origin": """embolic, thrombotic, hemorrhagic, ischemic, water shed, infectious, septic, traumatic, lacunar,
        inflammatory // vasculitic, metabolic, congenital""",
    "process": "infarctions, strokes, lesions, emboli, arthritis, colitis, encephalopathy // neuropathy, vasculopathy",
    "bad": """distended, tender, swollen, erythematous, rigid, mottled, pale, cyanotic, edematous, inflamed, icteric,
        dusky, macerated, ecchymotic, indurated, flaccid, pinpoint, injected, excoriated
        // bulging, blistered, ulcerated, sunken""",
    "good": """soft, warm, supple, symmetric, reactive, clear, intact, moist, nontender, normal, unremarkable, flat,
        equal, clean, well perfused // pristine, even, mobile""",
    "worn": """thickened, calcified, dilated, enlarged, hypokinetic, sclerotic, stenotic, akinetic, hypertrophied,
        deformed, retracted, fibrotic, myxomatous // dyskinetic, redundant, aneurysmal""",
    "sound": """normal in size, structurally normal, unremarkable, well seen, poorly seen, not well visualized,
        preserved, patent // grossly intact, adequately shown""",
    "flow": "regurgitation = regurg, stenosis, prolapse, insufficiency, thickening, vegetation // leakage, sclerosis",
    "rhythm": """sinus bradycardia, sinus tachycardia, atrial flutter, atrial fibrillation = afib, junctional rhythm,
        left bundle branch block = LBBB, right bundle branch block = RBBB, first degree block, low voltage,
        premature atrial contractions = PACs, ventricular ectopy, early repolarization
        // sinus arrhythmia, bigeminy, wandering pacemaker""",
    "wave": """ST elevation, ST depression, T wave inversion = TWI, Q waves, T wave flattening, J point elevation,
        poor R wave progression // U waves, delta waves""",
    "haze": """consolidation, opacification, atelectasis, edema, haziness, congestion, effusion, pneumothorax,
        scarring, infiltrate, collapse, fullness // honeycombing, bronchiectasis""",
    "organism": "staphylococcus, yeast, klebsiella, influenza, enterococcus // listeria, candida",
    # Anatomy
    "organ": """esophagus, stomach, liver, spleen, pancreas, colon, bladder, kidney, uterus, prostate, gallbladder,
        duodenum, rectum, cecum, thyroid, appendix, trachea, larynx // jejunum, ileum, ureter, pylorus""",
    "region": """neck, jaw, shoulder, back, abdomen = abd = abdmoen, chest, hip, flank, groin, forehead, scalp, cheek,
        axilla, buttock, breast, throat, pelvis // nape, temple, loin, perineum""",
    "limb": """knee, ankle, wrist, elbow, foot, hand, thumb, calf, thigh, forearm, shin, heel, finger, leg, arm
        // toe, instep, palm""",
    "cavity": "mouth, nose, ear canal, airway, chest tube site, pharynx, sinus, wound // nostril, eyelid",
    "surface": "tongue, lips, gums, chin, palate, face, fingers // brow, uvula",
    "paired": """pupils, lungs, ankles, calves, hands, extremities, legs, feet, conjunctivae, tonsils, eyes, nailbeds
        // sclerae, wrists, turbinates""",
    "valve": """mitral valve = MV, aortic valve = AV, tricuspid valve = TV, pulmonic valve, prosthetic valve
        // bicuspid valve""",
    "piece": "leaflets, cusps, annulus, chordae, commissures // papillary muscles, scallops",
    "chamber": """left ventricle = LV, right ventricle = RV, left atrium = LA, right atrium = RA, aortic root,
        ascending aorta, interatrial septum, pericardium // coronary sinus, aortic arch""",
    "wall": "septum, apex, inferior wall, anterior wall, lateral wall, free wall // basal segment, posterior wall",
    "twin": "ventricles, atria, kidneys, hilar regions, carotid arteries, lung bases // adrenals, maxillary sinuses",
    "lung": "lung base, upper lobe, lower lobe, hilum, middle lobe, lingula, apex // costophrenic angle, pleura",
    "brain": """frontal lobe, cerebellum, thalamus, basal ganglia, parietal lobe, occipital lobe, corona radiata
        // insula, midbrain""",
    "lead": "V1, V2, V3, V4, V5, V6, aVL, aVF, lead II, lead III // lead I, aVR",
    # Drugs
    "drug": """aspirin = ASA, metoprolol, lisinopril, warfarin = coumadin, furosemide = lasix, insulin, vancomycin,
        prednisone, omeprazole, heparin, metformin, ibuprofen, morphine, amoxicillin, atorvastatin, velbrinol,
        cortazide, ambrexol, fentarine, dolvastin, quintamycin, sorbatrine, pelicort, nadrazole, tivolam, morvacil,
        zentipril, luxobene
        // gabapentin, digoxin, haldrepam, oxitrolol, brevacillin, jantopril""",
    "form": "oral, topical, inhaled, intravenous = IV, nasal, low dose, long acting // rectal, sublingual",
    "family": """beta blockers, antibiotics, steroids, diuretics, statins, opioids, blood thinners, laxatives
        // antifungals, vasodilators""",
    # Procedures
    "procedure": """EGD, colonoscopy, bronchoscopy, intubation, cardiac catheterization = cardiac cath, dialysis = HD,
        lumbar puncture = LP, appendectomy, paracentesis, thoracentesis, cholecystectomy, transfusion, cardioversion,
        tracheostomy, echocardiogram = echo, ultrasound = US, laparoscopy
        // arthroscopy, hysterectomy, craniotomy, angioplasty""",
    "imaging": "CT, MRI, ultrasound = US, radiograph, plain film, CT angiogram = CTA // PET scan, fluoroscopy",
    "removal": """biopsy = bx, resection, drainage, irrigation, dissection, debridement, repair, excision
        // aspiration, ligation""",
    "scope": "endoscopy, GI series, extremity dopplers, back films, tract imaging // motility study, venogram",
}
"""Lists with held-out entries."""

CLOSED = {
    "side": "left = L = lt, right = R = rt",
    "place": "distal, proximal, upper, lower, lateral, medial, posterior, anterior, mid, superior, inferior",
    "bound": "upper, lower",
    "degree": "mild, moderate, severe, minimal, marked, slight, diffuse, trace, significant, extensive, new, chronic",
    "degreely": "mildly, moderately, severely, slightly, markedly, diffusely, minimally, somewhat",
    "shape": "vertical, superficial, small, large, linear, deep, 2 cm, irregular, focal, {3..9} mm, non healing",
    "seen": "seen, noted, found, present, identified, observed, evident",
    "relative": "mother, father, sister, brother, uncle, aunt, grandmother, cousin, son, daughter",
    "hospital": "[**Hospital {1..99}**], [**Hospital Ward {1..40}**], [**Location {1..60}**], Quillhaven",
    "doctor": """[**doctor first name {1..99}**] [**doctor last name {1..99}**], [**Last Name {1..99}**],
        Dr. Vane, Dr. Orme""",
    "date": "[**20{10..19}-{01..12}-{01..28}**], [**{1..12}-{1..28}**], [**Month {1..12}**]",
    "shortdate": "[**20{10..19}-{01..12}-{01..28}**]",
    "phone": "[**Telephone {1000..9999}**]",
    "dose": "{1..10} mg, {25..500} mg, {5..80} mg, 81 mg, 0.5 mg, {10..60} units, 1 tab, 2 puffs, {250..999} mg",
    "often": "daily, BID, TID, qhs, PRN, twice a day, every 6 hours, once a week, at bedtime, q8h, weekly",
    "route": "PO, IV, SC, by mouth, IH",
    "lab": "WBC, Hct, creatinine, sodium, potassium, lactate, troponin, glucose, INR, platelets, BUN, ALT, bilirubin",
    "value": "{1.1..19.8}, {100..180}, {20..60}, {0.4..4.9}",
    "clinic": """Heart Failure Clinic, Stroke Center, Chest Pain Unit, Coumadin clinic, Asthma program, Liver clinic,
        Fall Prevention class, Diabetes teaching service, Spine center, Dialysis center, Wound team, Back school""",
    "food": "liver sausage, kidney beans, chicken breast, elbow pasta, black coffee, green tea, brown rice",
    "idiom": "on the other hand, by word of mouth, back to back, at arm length, head first",
    "thing": "the foot of the bed, the arm of the chair, the mouth of the bottle, the neck of the pump, the back door",
    "team": "cardiology, neurology, surgery, physical therapy, nutrition, social work, case management, medicine",
    "home": "home, rehab, a nursing facility, home with services, an extended care facility",
    "job": "teacher, baker, mechanic, farmer, retired clerk, bus driver, carpenter, nurse, gardener",
    "whom": "sister, wife, husband, two cats, daughter, roommate, parents, son",
}
"""Lists that every split uses completely."""

PATIENTS = (
    {"he": "he = pt = the patient = patient = the pt", "his": "his = the", "person": "man, male, gentleman, M"},
    {"he": "she = pt = the patient = patient = the pt", "his": "her = the", "person": "woman, female, lady, F"},
)
"""Lists that depend on the patient of a report: how the patient is referred to."""


@cache
def lists(split: str, patient: int = 0) -> dict[str, tuple[Entry, ...]]:
    """Return the word lists for a split and one of the `PATIENTS`, parsed.

    Held-out entries are excluded for ``train`` and twice as likely elsewhere.
    """
    whole = {name: _parsed(name, _entries(text)) for name, text in (CLOSED | PATIENTS[patient]).items()}
    for name, text in OPEN.items():
        seen, held = seen_and_held(text)
        whole[name] = _parsed(name, seen if split == "train" else (*seen, *held, *held))
    return whole


@cache
def _parsed(name: str, entries: tuple[str, ...]) -> tuple[Entry, ...]:
    return tuple(parse_entry(entry, where=name) for entry in entries)


def seen_and_held(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entries of an open list that every split uses, and those held out of training.

    Examples
    --------
    >>> seen_and_held("pus, bile // chyle")
    (('pus', 'bile'), ('chyle',))
    """
    seen, _, held = text.partition("//")
    return _entries(seen), _entries(held)


def _entries(text: str) -> tuple[str, ...]:
    return tuple(" ".join(entry.split()) for entry in text.split(","))
