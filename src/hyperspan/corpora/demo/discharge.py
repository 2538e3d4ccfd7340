"""The constructions of discharge summaries, by section; `hyperspan.corpora.demo.constructions` has the rules."""

from __future__ import annotations

DISCHARGE: dict[str, dict[str, str]] = {
    "header": {
        "empty": """
            Quillhaven General Hospital \\(invented; this report describes nobody\\)
            QUILLHAVEN GENERAL, an invented hospital, synthetic report
            SYNTHETIC REPORT - Quillhaven General Hospital
        """,
    },
    "admission": {
        "empty": """
            Admission Date: <shortdate>   Discharge Date: <shortdate>
            Date of Birth: <shortdate>   Sex: (M|F)
            Service: <Team>
            Attending: <doctor>
            Unit No: {100000..999999}
            Name: <doctor>
        """,
    },
    "complaint": {
        "plain": """
            3x [<Symptom>:F1]
            2x [<Symptom>:F1], [<symptom>:F2]
            2x [<Sign>:F1] x {2..9} days
            [<Sign>:F1] and [<sign>:F2]
            s/p [<event>:F1]
            [<Region>:A1,F1] [<sign>:F1]
            [<Symptom>:F1] after [<procedure>:P1]
            test> [<Sign>:F1] all over
        """,
        "split": """
            [<Region>:A1,F1] and [<limb>:A2,F2] [<sign>:F1,F2]
            [<Sign>:F1] in <side> [<limb>:A1,F1]
        """,
    },
    "history": {
        "first": """
            3x {19..89} (yo|y/o|year old) <person> with [<disease>:F1] and [<disease>:F2] presents with [<symptom>:F3].
            2x {19..89}yo <person> h/o [<disease>:F1], [<disease>:F2] and [<symptom>:F3] since <date>.
            This is a {19..89} year old <person> with a history of [<disease>:F1] who came in with [<symptom>:F2].
            <He> is {19..89}, on [<drug>:D1] for [<disease>:F1], and now has [<symptom>:F2].
            {19..89} y/o <person> s/p [<procedure>:P1] with [<symptom>:F1].
            A {19..89} year old <person> was sent from <hospital>.
        """,
        "plain": """
            Unlike <his> <relative>, who has <disease>, <he> has [<disease>:F1].
            <His> <relative> takes <drug>, <he> takes [<drug>:D1].
            The <clinic> started [<drug>:D1] for [<disease>:F1].
            2x <He> (reports|endorses|describes|c/o) [<symptom>:F1] and [<symptom>:F2] for {2..9} days.
            2x <He> denies [<symptom>:F1], [<symptom>:F2] or [<symptom>:F3].
            2x No [<symptom>:F1] or [<symptom>:F2].
            <He> was started on [<drug>:D1] for [<disease>:F1].
            <He> took [<drug>:D1] and [<drug>:D2] without relief.
            Symptoms began after <he> ran out of [<drug>:D1].
            2x <He> noticed [<fluid> in <his> [<cavity>:A1]:F1].
            <He> developed [<sign> of the [<region>:A1]:F1] on <date>.
            <He> complained of [[<region>:A1] <sign>:F1] and [<symptom>:F2].
            At <hospital> <he> underwent [<procedure>:P1] and was given [<drug>:D1].
            [<imaging> of the [<region>:A1]:P1] at <hospital> showed [<lesion>:F1].
            <He> had [<event>:F1] {2..9} days ago while gardening.
            [<Event>:F1] in 20{10..19} after [<procedure>:P1].
            Has been taking [<family>:D1] at home.
            <He> was treated with [<family>:D1] for [<organism> infection:F1].
            <He> admits to [<substance> <dependence>:F1].
            [<Symptom>:F1] woke the patient at night.
            Of note, <his> [<disease>:F1] was (well|badly) controlled.
            What began as [<symptom>:F1] became [<symptom>:F2].
            2x test> Came in because of [<symptom>:F1]; blames [<drug>:D1].
            2x test> (Given|With) <his> [<disease>:F1], [<procedure>:P1] had been advised.
            2x test> Between bouts of [<symptom>:F1] <he> slept.
        """,
        "split": """
            2x <He> gets [<sign>:F1] in the <place> [<region>:A1,F1] when [walking:F1].
            <He> has [<sign>:F1] that comes and goes, mostly at night, in the [<region>:A1,F1].
            <His> [<region>:A1,F1] has since yesterday evening been [<bad>:F1].
            [<Sign>:F1], first felt while (walking|cooking|at work), now reaches the [<limb>:A1,F1].
            3x <He> had [<fluid>:F1,F2] [in <his> [<cavity>:A1]:F1] and [on <his> [<surface>:A2]:F2].
            2x <He> reports [<sign> of the:F1,F2] [<region>:A1,F1] and [<region>:A2,F2].
            2x <He> (reports|has had|describes) [<sign>:F1] in <his> <side> [<limb>:A1,F1].
            [<substance>:F1,F2] [<dependence>:F1] and [<dependence>:F2] (were suspected|in the past|on arrival).
            4x <He> noted [<look>:F1] or [<look>:F2] [<matter>:F1,F2] when <he> [vomited:F1,F2].
            <He> saw [<look>:F1] [<matter>:F1] when <he> (last |)[coughed:F1].
            [<sign>:F1] has been worse in the [<region>:A1,F1] since <date>.
            <He> was given [<form>:D1] and [<form>:D2] [<drug>:D1,D2].
            Had [<imaging> of the:P1,P2] [<region>:A1,P1] and [<region>:A2,P2] at <hospital>.
            test> <He> woke with <his> [<region>:A1,F1] [<bad>:F1] and <his> [<limb>:A2,F2] (very|rather) [<bad>:F2].
            test> The [<sign>:F1], which started (in the morning|after lunch), moved to <his> [<region>:A1,F1].
        """,
        "empty": """
            <He> eats <food> and drinks {2..5} cups of tea.
            <He> was found at <thing> by <his> <relative>.
            <His> <relative> has been taking <drug> and <drug> for <disease>.
            <His> <relative> (has|had) <sign> of the <region> (too|at that age).
            <He> worries about <disease> because of <his> <relative>.
            A friend of <his> <relative> had <lesion> in the <organ>.
            The <drug> level was <value>.
            No <drug> was on the market then.
            <He> heard of <procedure> on the radio.
            3x <He> was in <his> usual state of health until <date>.
            2x <He> was brought in by ambulance from <hospital>.
            <He> was transferred from <hospital> for further care.
            2x <His> <relative> had <disease> at age {40..80}.
            <His> <relative> and <relative> were also ill last week.
            <He> was seen by <doctor> on <date>.
            <He> drove to the <clinic> but left before being seen.
            <He> was referred by the <clinic>.
            <He> had read a leaflet on <symptom> and wanted to talk.
            <He> works as a <job> and lives with <his> <whom>.
            In the ED, vitals were T {97..102} HR {55..130} BP {90..180}/{50..99} RR {12..28}.
            The story was confirmed with <his> <relative>.
            <He> asked about <drug> advertised on television.
            <He> cannot recall the details.
            2x test> Neither <his> <relative> nor anyone else at home had <symptom>.
            2x test> <He> looked up <disease>, <drug> and <procedure> in a book.
        """,
    },
    "past": {
        "plain": """
            6x [<Disease>:F1]
            2x [<disease>:F1], diagnosed 20{10..19}
            [<Disease>:F1] on [<drug>:D1]
            [<Disease>:F1] and [<disease>:F2]
            s/p [<procedure>:P1] 20{10..19}
            h/o [<event>:F1]
            [<Lesion> of the [<organ>:A1]:F1]
            [<procedure>:P1] for [<disease>:F1]
            [[<organ>:A1] <lesion>:F1], stable
            [<Process>:F1]
            2x test> rule out [<disease>:F1]
            2x test> was told of [<lesion>:F1] in 20{10..19}
            [<disease>:F1] c/b [<event>:F2]
        """,
        "split": """
            [<Process>:F1,F2,F3], either [<origin>:F1] or [<origin>:F2]
            [<substance>:F1,F2] [<dependence>:F1] and [<dependence>:F2]
            [<lesion>:F1] of <place> [<organ>:A1,F1]
            [<removal>:P1] of <place> [<organ>:A1,P1] 20{10..19}
            test> [<Organ>:A1,F1] and [<organ>:A2,F2] [<lesion>:F1,F2]
        """,
        "empty": """
            See old chart
            As above
            Followed at the <clinic>
            None known
        """,
    },
    "kin": {
        "plain": """
            <relative> is well; the patient has [<disease>:F1]
        """,
        "empty": """
            3x <Relative> with <disease>, <relative> with <disease>.
            2x <Relative> died of <disease> at {50..90}.
            Noncontributory.
            No <disease> in the family.
            <Relative> had <lesion> of the <organ>.
            <Relative> takes <drug>.
        """,
    },
    "social": {
        "plain": """
            Past [<substance> <dependence>:F1], none now.
            Known [<substance> <dependence>:F1].
        """,
        "split": """
            [<Substance>:F1,F2] [<dependence>:F1] and [<dependence>:F2] in the past.
        """,
        "empty": """
            3x Lives with <his> <whom>.
            2x Works as a <job>.
            Never smoked.
            Drinks {2..5} beers a week.
            Moved here from <hospital> in 20{10..19}.
        """,
    },
    "allergies": {
        "plain": """
            3x [<Drug>:D1]
            2x [<drug>:D1] - [<sign>:F1]
            [<Drug>:D1] / [<drug>:D2]
            [<drug>:D1] causes [<symptom>:F1]
        """,
        "empty": """
            NKDA
            No known drug allergies
            Dust, pollen
        """,
    },
    "exam": {
        "plain": """
            [<fluid> from the [<cavity>:A1]:F1]
            [<Cavity>:A1]: no [<fluid>:F1]
            2x [<Region>:A1]: no [<lesion>:F1], no [<sign>:F2]
            [<sign>:F1] absent
            2x [[<region>:A1] <sign>:F1], no [<symptom>:F2]
            [<sign> of the [<region>:A1]:F1]
            [<fluid> in the [<cavity>:A1]:F1]
            2x [<Paired>:A1] (were|are) <good> and <good>
            The [<region>:A1] was <good>
            The [<region>:A1] was (examined|inspected) (twice|with care)
            [<limb>:A1] <good>, no [<lesion>:F1]
            [[<surface>:A1] <lesion>:F1]
            [<bad> [<paired>:A1]:F1]
            [<bad> [<limb>:A1]:F1], no [<sign>:F2]
            no [<sign>:F1] to touch over the [<region>:A1]
            2x test> Could not feel the [<organ>:A1]
            2x test> Mentions [<sign>:F1] when moved
        """,
        "split": """
            3x [<Paired>:A1,F1] (were|are) (<degreely> |)[<bad>:F1] and <good>
            3x The [<region>:A1,F1] was <good> but (<degreely> |)[<bad>:F1]
            2x [<paired>:A1,F1] <degreely> [<bad>:F1]
            [<Sign> of the:F1,F2,F3] [<region>:A1,F1], [<region>:A2,F2] and [<region>:A3,F3]
            2x [<lesion>:F1] on the <side> [<limb>:A1,F1]
            <degree> [<sign>:F1] over <side> <place> [<limb>:A1,F1]
            [<region>:A1,F1,F2] [<bad>:F1] and [<bad>:F2]
            <shape> [<lesion>:F1] across the <place> [<region>:A1,F1]
            [<Surface>:A1,F1,F2] with <shape> [<lesion>:F1] and [<lesion>:F2]
            [<paired>:A1,F1,F2] (are|were) [<bad>:F1] and [<bad>:F2]
            test> The [<limb>:A1,F1], on the <side> side, looked (rather |)[<bad>:F1]
            test> [<Bad>:F1] but otherwise <good> [<paired>:A1,F1]
            [left:A1] and [right:A2] [<limb>:A1,A2] <good>
        """,
        "empty": """
            <He> sits at <thing>
            Belongings: <food>, <whom> photo
            Soft diet tray untouched
            2x Vitals: T {97..101} BP {90..180}/{50..99} HR {55..130} RR {12..24} O2 {88..99}% RA
            Gen: awake, alert, in no distress
            General: NAD, oriented x 3
            Neuro: strength 5/5, gait steady
            Psych: calm
            Exam limited, <he> would not undress
            Wt {45..120} kg
            Skin and hair well kept
            test> Shoes, hat and <thing> wet
        """,
    },
    "results": {
        "plain": """
            [<procedure>:P1] <date>: [<lesion>:F1]
            Culture grew [<organism>:F1]
            [<imaging>:P1] negative for [<lesion>:F1]
            [<imaging> of the [<region>:A1]:P1]: no [<lesion>:F1]
            [<procedure>:P1] with [[<organ>:A1] <lesion>:F1]
        """,
        "split": """
            [<procedure>:P1]: <shape> [<lesion>:F1] in <place> [<organ>:A1,F1]
            [<imaging> of:P1,P2] [<region>:A1,P1] and [<limb>:A2,P2]: normal
            test> [<Organ>:A1,F1] on [<imaging>:P1]: <degree> [<lesion>:F1]
        """,
        "empty": """
            <drug> level <value>
            <organism> vaccine given 20{10..19}
            Study of <drug> in <disease>: not enrolled
            4x <date> <lab>-<value> <lab>-<value> <lab>-<value>
            2x <lab> <value>, <lab> <value>
            <lab> <value> on admission, <value> at discharge
            UA negative
            Cultures pending
        """,
    },
    "course": {
        "plain": """
            <His> <relative> with <disease> visited while <he> had [<procedure>:P1].
            The <clinic> advised [<drug>:D1], not <procedure> in the <clinic>.
            [<Removal> of the [<organ>:A1]:P1] was done for [<fluid> in the [<cavity>:A2]:F1].
            2x <He> was admitted with [<disease>:F1] and treated with [<drug>:D1].
            2x <He> received [<drug>:D1] <dose> <route> for [<symptom>:F1].
            # [<Disease>:F1]: (continued|stopped|increased|held) [<drug>:D1].
            # [<Disease>:F1]: stable on [<drug>:D1] and [<drug>:D2].
            2x [<Procedure>:P1] showed no [<lesion>:F1].
            [<Procedure>:P1] was done on <date> without incident.
            [<imaging> of the [<region>:A1]:P1] was negative for [<lesion>:F1].
            The [<symptom>:F1] improved with [<drug>:D1].
            (There was|We saw) no evidence of [<disease>:F1] or [<disease>:F2].
            [<Family>:D1] were held given the [<symptom>:F1].
            <He> remained free of [<symptom>:F1] after [<procedure>:P1].
            Concern for [<disease>:F1], so [<drug>:D1] was given.
            A [[<organ>:A1] <lesion>:F1] was <seen>.
            Cultures grew [<organism>:F1] and <he> got [<drug>:D1].
            <Team> thought this was [<disease>:F1] rather than [<disease>:F2].
            [<sign> of the [<region>:A1]:F1] resolved.
            The [<lesion>:F1] was left alone.
            Given [<symptom>:F1], [<drug>:D1] was swapped for [<drug>:D2].
            2x test> Nobody could explain the [<symptom>:F1].
            2x test> Once off [<drug>:D1], the [<symptom>:F1] stopped.
            2x test> Instead of [<procedure>:P1] <he> chose [<drug>:D1].
        """,
        "split": """
            The [<lesion>:F1] first <seen> on <date> in the [<organ>:A1,F1] was stable.
            The [<organ>:A1,F1], as <seen> on the last [<imaging>:P1], has a <shape> [<lesion>:F1].
            2x [<Procedure>:P1] showed [<disease>:F2] and <shape> [<lesion>:F1] in <place> [<organ>:A1,F1].
            2x [<Procedure>:P1] showed [<fluid> in:F2] [<organ>:A1,F1,F2] and overlying [<lesion>:F1].
            2x [<imaging>:P1] showed [<process>:F1,F2,F3] either [<origin>:F1] or [<origin>:F2].
            A [<removal>:P1] was (done|taken|planned) of the [<organ>:A1,P1].
            The [<region>:A1,F1] (became|remained|was again) [<bad>:F1] on day {2..9}.
            <He> was changed from [<form>:D1] to [<form>:D2] [<drug>:D1,D2].
            [<imaging> of the:P1,P2] [<region>:A1,P1] and [<organ>:A2,P2] was (normal|repeated|read as unchanged).
            2x [<Bound>:P1] and [<bound>:P2] [<scope>:P1,P2] were (normal|done|deferred).
            2x <He> passed [<look>:F1] and [<look>:F2] [<matter>:F1,F2] when [straining:F1,F2].
            [<sign>:F1] and [<sign>:F2] [of <his> [<region>:A1]:F1,F2] (improved|persisted).
            The [<lesion>:F1] seen before in the [<organ>:A1,F1] was smaller.
            test> What was called [<lesion>:F1] on arrival turned out to lie in the [<organ>:A1,F1].
            test> <Team> found the [<limb>:A1,F1] to be, as before, [<bad>:F1].
        """,
        "empty": """
            <He> enjoyed the <food>.
            <Idiom>, the family wished to wait.
            The <drug> trial was explained and <he> declined.
            Teaching on <procedure> and <drug> was offered to the <relative>.
            The <relative> asked whether <lesion> of the <organ> runs in families.
            <He> shared a room with a man with <disease>.
            The roommate had <procedure> and complained of <sign>.
            The <drug> level was <value> on <date>.
            3x <He> was seen by <team>, who agreed with the plan.
            2x <He> was followed by the <clinic>.
            <He> tolerated a regular diet by day {2..9}.
            Social work met with the family.
            <His> <relative>, who has <disease>, was at the bedside.
            The <relative> was told about <disease> and its treatment.
            2x Discussed with <doctor> on <date>.
            <He> was given a handout about <disease>.
            <Team> taught <his> <relative> how to watch for <symptom>.
            <lab> was <value> and then <value>.
            Code status: full.
            The night was quiet.
            <He> was discharged to <home>.
            2x test> The student presented a paper on <disease> and <drug>.
        """,
    },
    "done": {
        "plain": """
            3x [<Procedure>:P1]
            2x [<Procedure>:P1] <date>
            [<Removal> of the [<organ>:A1]:P1]
            [<imaging> of the [<region>:A1]:P1]
            [[<organ>:A1] <removal>:P1]
        """,
        "split": """
            [<Removal>:P1] of <side> [<limb>:A1,P1]
            [<Bound>:P1] and [<bound>:P2] [<scope>:P1,P2]
            [<removal>:P1] and [<removal>:P2] [of the [<organ>:A1]:P1,P2]
            test> [<Organ>:A1,P1], [<organ>:A2,P2] [<removal>:P1,P2]
        """,
        "empty": """
            None
            Bedside care only
        """,
    },
    "medications": {
        "plain": """
            6x [<Drug>:D1] <dose> <route> <often>
            3x [<drug>:D1] <dose> Tablet Sig: One \\(1\\) tablet <route> <often>.
            2x [<drug>:D1] <dose> <often> for [<symptom>:F1]
            [<Drug>:D1] <dose> <often> as needed for [<sign>:F1]
            [<form> <drug>:D1] <often>
            stop [<drug>:D1]
            [<drug>:D1] - changed to <dose>
            2x test> switch [<drug>:D1] to [<drug>:D2] <dose>
        """,
        "split": """
            [<Drug>:D1,D2], [<form>:D1] and [<form>:D2], <often>
        """,
        "empty": """
            Samples of <drug> were not given
            Do not share with your <relative>, who takes <drug>
            Please take with food
            Bring this list to your visit
        """,
    },
    "condition": {
        "plain": """
            Stable, no [<symptom>:F1]
            Good; [<sign>:F1] controlled
            [<Disease>:F1], improving
        """,
        "empty": """
            3x Stable
            2x Ambulatory, independent
            Alert and oriented
            Good
        """,
    },
    "instructions": {
        "plain": """
            Call us before you take [<drug>:D1] again.
            The class on <disease> is for your [<disease>:F1].
            2x You were admitted with [<symptom>:F1] and [<disease>:F2].
            You had [<procedure>:P1] which showed [<lesion>:F1].
            2x You were given [<drug>:D1] for your [<disease>:F1].
            Please stop taking [<drug>:D1].
            Do not take [<drug>:D1] with [<drug>:D2].
            Your [<symptom>:F1] came from [<disease>:F2].
            You had [[<region>:A1] <sign>:F1].
            2x test> We think [<drug>:D1] gave you [<symptom>:F1].
        """,
        "split": """
            5x You (saw|noticed) [<look>:F1] or [<look>:F2] [<matter>:F1,F2] when you [vomited:F1,F2].
            You told us of [<sign>:F1] in your <side> [<limb>:A1,F1].
            You had [<fluid>:F1,F2] [in your [<cavity>:A1]:F1] and [on your [<surface>:A2]:F2].
            You (saw|noticed) [<look> <matter>:F1] when you [coughed:F1].
        """,
        "empty": """
            Avoid <food> for {2..9} days.
            Ask your <relative> about <disease> in the family.
            A class on <disease> and <drug> meets on <date>.
            Watch for <fluid> in the <cavity> or <sign>.
            3x Call (us|your doctor) if you have <symptom>, <symptom> or <sign> of the <region>.
            2x Return to the ED for <symptom> or <symptom>.
            Call (us|<phone>) if you see <look> or <look> <matter> when you vomit.
            Call if you notice <fluid> in your <cavity> or on your <surface>.
            Read the leaflet about <disease> and <drug>.
            If you ever get <sign> in your <side> <limb>, go to the nearest hospital.
            Keep all appointments.
            Weigh yourself every morning.
            Do not drive for {2..9} days.
            The <clinic> will call you.
            2x test> Should <symptom> or <sign> come, phone <phone>.
        """,
    },
    "followup": {
        "plain": """
            <doctor> will recheck your [<disease>:F1]
            [<Procedure>:P1] on <date> at <hospital>
            [<imaging> of the [<region>:A1]:P1] in {2..8} weeks
        """,
        "split": """
            [<imaging> of the:P1,P2] [<region>:A1,P1] and [<region>:A2,P2] in {2..8} weeks
        """,
        "empty": """
            Talk on <disease> by <doctor>, <date>
            Bring your <relative> and the leaflet on <procedure>
            3x <doctor>, phone <phone>, on <date> at {1..11}:30
            2x <clinic>, <phone>
            <Team> in {2..8} weeks
        """,
    },
}
