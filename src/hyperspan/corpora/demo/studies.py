"""The constructions of echo, radiology and ECG reports; `hyperspan.corpora.demo.constructions` has the rules."""

from __future__ import annotations

STUDIES: dict[str, dict[str, str]] = {
    "indication": {
        "plain": """
            3x [<Symptom>:F1], (evaluate for|question of|?) [<disease>:F2].
            2x [<Disease>:F1].
            {19..89} year old <person> with [<symptom>:F1], assess for [<lesion>:F2].
            s/p [<procedure>:P1], now with [<symptom>:F1].
            [<sign>:F1] after [<event>:F2].
        """,
        "split": """
            [<Region>:A1,F1] and [<region>:A2,F2] [<sign>:F1,F2] after [<event>:F3].
            [<Sign>:F1] in the <side> [<limb>:A1,F1].
        """,
        "empty": """
            Follow up.
            Request of <doctor>, <clinic>.
            Screening before enrolment.
        """,
    },
    "measurements": {
        "empty": """
            2x Ejection fraction: {25..70}% \\(normal over 55%\\)
            LV septal wall thickness: {0.6..1.9} cm
            Aorta at sinus level: {2.2..4.9} cm
            Ascending: {2.0..4.8} cm
            Peak velocity: {0.8..4.6} m/sec
            E/A ratio: {0.6..2.4}
            Heart rate {50..120}, BP {90..170}/{50..95}
        """,
    },
    "heart": {
        "plain": """
            2x The [<chamber>:A1] is <sound>.
            2x No [[<valve>:A1] <flow>:F1].
            2x The [<valve>:A1] is <sound>.
            [[<valve>:A1] <flow>:F1].
            No [<lesion>:F1] or [<lesion>:F2].
            2x <degree> [[<valve>:A1] <flow>:F1].
            [<worn> [<chamber>:A1]:F1].
            [<fluid> in the [<chamber>:A1]:F1].
            The [<piece>:A1] were <sound>.
            No [[<chamber>:A1] <lesion>:F1] is <seen>.
            2x test> Nothing to suggest [<lesion>:F1].
        """,
        "split": """
            9x [<Valve>:A1,F1]: [<piece>:A2,F1] <degreely> [<worn>:F1].
            2x [<Chamber>:A1,F1]: <degreely> [<worn>:F1].
            2x The [<chamber>:A1,F1] is (<degreely> |)[<worn>:F1].
            2x [left:A1,F1] and [right:A2,F2] [<twin>:A1,A2,F1,F2] [<worn>:F1,F2].
            The [<valve>:A1,F1] [<piece>:A2,F1] are (<degreely> |)[<worn>:F1] but <sound>.
            <degree> [<flow>:F1] of the native [<valve>:A1,F1].
            [<Valve>:A1,F1,F2]: [<flow>:F1] and [<flow>:F2].
            [<wall>:A1,F1] and [<wall>:A2,F2] are [<worn>:F1,F2].
            test> There is, at the level of the [<valve>:A1,F1], <degree> [<flow>:F1].
            test> Both the [<chamber>:A1,F1] and the [<chamber>:A2,F2] (look|appear) [<worn>:F1,F2].
            [left:A1] and [right:A2] [<twin>:A1,A2] are <sound>.
        """,
        "empty": """
            The <valve> protocol was used.
            Calipers were set as for <flow> studies.
            2x Image quality was poor.
            The study was compared with <date>.
            Doppler parameters were recorded.
            Views were limited by body habitus.
            Reader: <doctor>.
        """,
    },
    "technique": {
        "plain": """
            2x [<Imaging> of the [<region>:A1]:P1] without contrast.
            [<Imaging>:P1] with {60..120} cc of contrast.
            [<Imaging> of the [<organ>:A1]:P1], {2..5} mm slices.
        """,
        "split": """
            [<Imaging> of the:P1,P2] [<region>:A1,P1] and [<region>:A2,P2] with contrast.
            [<Imaging>:P1] of the <side> [<limb>:A1,P1], {2..4} views.
        """,
        "empty": """
            Axial images were obtained.
            Single portable view.
            Images were sent to <hospital>.
        """,
    },
    "comparison": {
        "plain": """
            [<Imaging>:P1] <date>.
            [<Imaging> of the [<region>:A1]:P1] <date>.
        """,
        "empty": """
            2x None.
            Film of <date>.
            Outside study from <hospital>.
        """,
    },
    "findings": {
        "plain": """
            2x No [<haze>:F1] or [<haze>:F2] is <seen>.
            2x [<Lesion> of the [<brain>:A1]:F1], (new|old).
            [<Brain>:A1] and [<brain>:A2] are <good>.
            2x The [<organ>:A1] is <good>.
            [[<organ>:A1] <lesion>:F1], unchanged.
            There is <degree> [<haze> in the [<lung>:A1]:F1].
            [<Lesion> of the [<organ>:A1]:F1] is <seen>.
            No [<lesion>:F1] in this study.
            The [<organ>:A1] and [<organ>:A2] are <good>.
            2x <degree> [[<lung>:A1] <haze>:F1].
            Findings may represent [<disease>:F1].
            [<Lesion>:F1] measuring {2..9} cm.
            [<bad> [<organ>:A1]:F1] is <seen>.
            2x test> The old [<lesion>:F1] has gone.
            2x test> Could be [<disease>:F1], could be [<lesion>:F2].
        """,
        "split": """
            [<Haze>:F1] is, compared with the film of <date>, larger in the [<lung>:A1,F1].
            3x <shape> [<lesion>:F1] in the <place> [<organ>:A1,F1].
            2x [<Haze>:F1] at the <side> [<lung>:A1,F1].
            2x [<Haze>:F1,F2] [in the [<lung>:A1]:F1] and [at the [<lung>:A2]:F2].
            The [<organ>:A1,F1] is (<degreely> |)[<worn>:F1].
            [left:A1,F1] and [right:A2,F2] [<twin>:A1,A2,F1,F2] are [<worn>:F1,F2].
            [<Process>:F1,F2,F3], [<origin>:F1] or [<origin>:F2], cannot be told apart.
            2x [<lesion>:F1] is <seen> again (in|within) the <side> [<brain>:A1,F1].
            The [<organ>:A1,F1] contains a <shape> [<lesion>:F1].
            [<lesion>:F1], {2..9} x {2..9} cm on image {10..99}, abuts the [<organ>:A1,F1].
            [<Lesion>:F1] of {2..9} cm, previously <seen> on <date>, in the <place> [<organ>:A1,F1].
            test> In the <side> [<brain>:A1,F1] there is <degree> [<lesion>:F1].
            test> [<Lung>:A1,F1], where <he> had an old scar, shows [<haze>:F1].
            The [upper:A1] and [lower:A2] [lobes:A1,A2] are <good>.
            [left:A1] and [right:A2] [<twin>:A1,A2] are <good>.
        """,
        "empty": """
            The protocol for <disease> was used.
            A teaching file on <lesion> of the <organ> exists.
            Images look as in the leaflet on <haze>.
            2x Lines and tubes are in standard position.
            The study is limited by motion.
            Bones are as expected for age.
            Read with <doctor>.
            Wet read to the <clinic>.
            The remainder is normal.
        """,
    },
    "impression": {
        "plain": """
            3x No evidence of [<lesion>:F1].
            2x [<Haze>:F1], (unchanged|improved|worse).
            [[<organ>:A1] <lesion>:F1].
            Likely [<disease>:F1].
            No [<haze>:F1], [<lesion>:F2] or [<lesion>:F3].
            Normal [<organ>:A1].
            2x [[<valve>:A1] <flow>:F1].
        """,
        "split": """
            [<Lesion>:F1] in <place> [<organ>:A1,F1].
            <degree> [<haze>:F1] in the <side> [<lung>:A1,F1].
            [<Process>:F1,F2,F3] either [<origin>:F1] or [<origin>:F2].
        """,
        "empty": """
            2x Normal study.
            No change.
            Discussed with <doctor> by phone.
            Clinical correlation is advised.
        """,
    },
    "tracing": {
        "plain": """
            4x [<Rhythm>:F1].
            2x [<Rhythm>:F1] with [<wave>:F2].
            2x [<Wave> in <lead>:F1].
            No [<wave>:F1].
            Possible [<rhythm>:F1] versus [<rhythm>:F2].
            Cannot rule out [<disease>:F1].
            [<Rhythm>:F1] on [<drug>:D1].
            [<Rhythm>:F1], rate {40..140}.
            After [<procedure>:P1] there is [<rhythm>:F1].
            2x test> Looks like [<rhythm>:F1].
        """,
        "split": """
            3x [<Wave> in:F1,F2] [<lead>:F1] and [<lead>:F2].
            [<Wave> in:F1,F2,F3] [<lead>:F1], [<lead>:F2] and [<lead>:F3].
            2x [<Wave>:F1] now (seen|more marked) in [<lead>:F1].
            [<Chamber>:A1,F1] is likely [<worn>:F1].
            test> [<Lead>:F1] and [<lead>:F2] show [<wave>:F1,F2].
        """,
        "empty": """
            Machine reads <rhythm>, not confirmed.
            Machine reads <wave>, this is artifact.
            2x Normal axis.
            2x Rate {50..110}, intervals normal.
            Baseline artifact.
            No previous tracing available.
            Compared to the tracing of <date>, no change.
            PR {120..220}, QRS {70..150}, QT {360..480}.
            Tracing {2..4}.
        """,
    },
}
