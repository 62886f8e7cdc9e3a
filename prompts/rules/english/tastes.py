"""Lasting facts of taste: food, health, likes, habits, goals."""

from prompts.rules.english.rule import rule

_DIETS = "vegetarian|vegan|pescatarian|lactose[- ]intolerant|gluten[- ]intolerant|coeliac|celiac|teetotal"
_TASTES = "likes?|loves?|enjoys?|adores?|prefers?|hates?|dislikes?|detests?|can not stand"

ROWS = (
    rule(
        r"can not (?P<verb>eat|drink) (?P<what>.+)",
        "{s} can not {verb} {what}.",
        "Can not {verb} {what}",
        "{verb}|{what}",
        "food",
        priority=80,
    ),
    rule(
        rf"is (?P<not>not )?(?:an? (?:strict )?)?(?P<diet>{_DIETS})",
        "{s} is {not}{diet}.",
        "Diet",
        "diet",
        "food",
        "health",
        priority=85,
    ),
    rule(
        r"is (?P<not>not )?allergic to (?P<what>.+)",
        "{s} is {not}allergic to {what}.",
        "Allergy to {what}",
        "allergy|{what}",
        "health",
        priority=90,
    ),
    rule(
        r"has an? (?P<what>[\w ]{2,30}) allergy",
        "{s} is allergic to {what}.",
        "Allergy to {what}",
        "allergy|{what}",
        "health",
        priority=90,
    ),
    rule(
        r"(?:does not|never) (?P<verb>eat|drink|smoke)s? ?(?P<what>.*)",
        "{s} does not {verb} {what}.",
        "Does not {verb} {what}",
        "{verb}|{what}",
        "food",
        priority=80,
    ),
    rule(
        r"no longer (?P<verb>eats|drinks|smokes) ?(?P<what>.*)",
        "{s} no longer {verb} {what}.",
        "No longer {verb} {what}",
        "{verb}|{what}",
        "food",
        priority=80,
    ),
    rule(
        r"only (?P<verb>eats|drinks) (?P<what>.+)",
        "{s} only {verb} {what}.",
        "Only {verb} {what}",
        "{verb} only",
        "food",
    ),
    rule(rf"(?P<verb>{_TASTES}) (?P<what>.+)", "{s} {verb} {what}.", "{verb} {what}", "likes|{what}", "preference"),
    rule(
        r"(?:does not|do not) (?:really )?(?P<verb>like|love|enjoy)(?: to)? (?P<what>.+?)(?: any ?more| any longer)?",
        "{s} does not {verb} {what}.",
        "Does not {verb} {what}",
        "likes|{what}",
        "preference",
    ),
    rule(
        rf"no longer (?P<verb>{_TASTES}) (?P<what>.+)",
        "{s} no longer {verb} {what}.",
        "No longer {verb} {what}",
        "likes|{what}",
        "preference",
    ),
    rule(
        r"is (?P<not>not )?a (?:(?:big|huge|massive|great) )?fan of (?P<what>.+)",
        "{s} is {not}a fan of {what}.",
        "Fan of {what}",
        "likes|{what}",
        "preference",
    ),
    rule(
        r"is (?P<not>not )?(?P<how>fond of|crazy about|obsessed with|interested in|passionate about|keen on|good at"
        r"|afraid of|scared of|terrified of|into) (?P<what>.+)",
        "{s} is {not}{how} {what}.",
        "{how} {what}",
        "{how}|{what}",
        "preference",
    ),
    rule(
        r"has (?P<what>(?:type [12] )?diabetes|asthma|ADHD|autism|epilepsy|celiac disease|coeliac disease"
        r"|migraines|insomnia"
        r"|arthritis)",
        "{s} has {what}.",
        "Health",
        "has|{what}",
        "health",
        priority=85,
    ),
    rule(
        r"(?P<verb>plays|speaks|studies|teaches|collects|practises|practices|coaches|owns|runs|drives|raises"
        r"|mentors|tutors|fosters) (?!for\b|to\b|with\b|of\b|on\b)(?P<what>(?!care|a break|time|part|place|into|out"
        r"|over|after|away).+)",
        "{s} {verb} {what}.",
        "{verb} {what}",
        "{verb}|{what}",
        "habit",
        priority=60,
    ),
    rule(
        r"(?P<what>(?:does(?! not)|drinks|eats|cooks|bakes|goes|commutes|cycles|walks|swims|reads|wakes up|gets up"
        r"|meditates"
        r"|works out|meets)\b.*\b(?:every|each|daily|in the (?:morning|evening)s?|on (?:Mon|Tues|Wednes|Thurs|Fri"
        r"|Satur|Sun)days|by (?:bike|train|bus|car))\b.*)",
        "{s} {what}.",
        "{what}",
        "",
        "habit",
        priority=60,
    ),
    rule(
        r"volunteers (?P<what>(?:at|for|with|in) .+)",
        "{s} volunteers {what}.",
        "Volunteers {what}",
        "volunteers|{what}",
        "habit",
    ),
    rule(
        r"is (?P<how>learning|studying) (?P<what>(?!how|so|about|more|as|new|a lot|lots|a ton|a bit|from|to).+)",
        "{s} is {how} {what}.",
        "{how} {what}",
        "learns|{what}",
        "habit",
    ),
    rule(
        r"wants to (?P<what>(?:become|learn|visit|travel|start an?|open an?|buy an?|write an?|get (?:married|fit"
        r"|stronger|better)|move|study)\b.+)",
        "{s} wants to {what}.",
        "Wants to {what}",
        "",
        "goal",
        priority=60,
    ),
)
