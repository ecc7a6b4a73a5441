"""Which language a text is in, and the words of a query that say nothing about what is looked for.

In: text of documents and queries. Out: ISO 639-1 codes, None where a guess would be a guess, and stop words to drop.
Scripts decide where they can; languages of the Latin script are told apart by their function words, which make up a steady
share of any prose and are missing from code and tables. Knows nothing of documents, SQL or models.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable

SAMPLE = 5_000  # characters of a text that are looked at

_ENGLISH = """
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one's somebody someone something anybody anyone anything nobody nothing
everybody everyone everything who whom whose what whatever which whichever when whenever where wherever why how however
am is are was were be been being do does did doing done have has had having can could shall should will would might must
ought cannot not no nor neither either both each every any some all few many much more most less least other others
another same own only just also too very quite rather so than then there here now ever never again still yet already
and or but if unless because since while whereas although though as until whether of at by for with without within about
against between among into onto through during before after above below to from in on upon per via toward towards
please dont doesnt didnt cant isnt arent wont whats hows let's
"""
_CONTRACTED = {
    "'m": "i",
    "'re": "you we they what who there",
    "'ve": "i you we they who could should would might must",
    "'ll": "i you he she it we they that there what who",
    "'d": "i you he she it we they that who how",
    "'s": "he she it that what who where when why how there here",
    "n't": "is are was were do does did have has had ca could sha should wo would might must need",
}
_WORDS = {
    "de": """
der die das den dem des ein eine einen einem einer eines kein keine keinen keiner und oder aber denn sondern doch als
wie wenn weil dass daß ob damit obwohl während bevor nachdem ich du er sie es wir ihr mich mir dich dir ihn ihm uns
euch ihnen sich mein meine meinen dein deine sein seine seinen seiner ihre ihren ihrem ihrer unser unsere dieser diese
dieses diesen diesem jeder jede jedes alle allen man was wer wen wem wo wann warum wieso woher wohin welche welcher
welches welchen ist sind war waren bin bist wird werden wurde wurden worden hat haben hatte hatten habe kann können
konnte muss müssen soll sollen sollte will wollen darf nicht nur auch noch schon sehr so dann da hier dort nach von
vom vor mit ohne zu zum zur bei beim bis aus auf an am im in für gegen über unter um durch seit zwischen wegen bitte
gibt etwas nichts mehr""",
    "fr": """
le la les un une des du de au aux et ou mais donc car ni que qui quoi dont où quand comment pourquoi combien quel
quelle quels quelles lequel laquelle je tu il elle on nous vous ils elles me te se lui leur leurs eux mon ma mes ton
ta tes son sa ses notre nos votre vos ce cet cette ces cela ça ceci celui celle ceux est es suis sommes êtes sont
était étaient été être sera seront ai as a avons avez ont avait avaient avoir eu fait faire peut peuvent doit doivent
ne pas plus moins très aussi même tout tous toute toutes autre autres si comme dans en sur sous par pour avec sans
chez vers entre depuis pendant avant après contre y là ici alors ainsi encore déjà toujours jamais""",
    "es": """
el la los las lo un una unos unas del al de y e o u pero sino porque que qué quien quién quienes cual cuál cuales
cuándo cuando cómo como dónde donde cuánto cuántos yo tú él ella nosotros ustedes ellos ellas me te se nos le les mi
mis tu tus su sus nuestro nuestra este esta estos estas esto ese esa esos esas eso aquel aquella es son era eran fue
fueron ser sido soy está están estaba estar ha han había he hay haber puede pueden debe deben tiene tienen no ni sí
más menos muy también ya si en con sin por para sobre entre desde hasta hacia según durante antes después contra todo
toda todos todas otro otra otros otras cada mismo misma así aún donde cualquier""",
    "it": """
il lo la i gli le un uno una del dello della dei degli delle dell al allo alla ai agli alle all dal dalla dai dalle
dall nel nello nella nei nelle nell sul sulla sui sulle sull di a da in con su per tra fra e ed o ma però perché
perchè che chi cui quale quali quando come dove quanto quanti cosa io tu lui lei noi voi loro mi ti si ci vi ne mio
mia suo sua suoi sue nostro questo questa questi queste quello quella quelli quelle è sono era erano fu essere stato
stata sia ha hanno aveva avere ho può possono deve devono fare non né più meno molto anche già se senza sopra sotto
prima dopo durante fino contro verso ogni tutto tutti tutte altro altri altre stesso così ancora""",
    "pt": """
o a os as um uma uns umas do da dos das no na nos nas ao à aos às pelo pela pelos pelas num numa de em por para com
sem sob sobre entre até desde após antes depois durante contra e ou mas porém porque pois que quem qual quais quando
como onde quanto quantos eu tu ele ela nós você vocês eles elas me te se lhe lhes meu minha seu sua seus suas nosso
nossa este esta estes estas isto esse essa esses essas isso aquele aquela é são era eram foi foram ser sido está estão
estava estar há ter tem têm tinha havia pode podem deve devem não nem mais menos muito também já se só todo toda todos
todas outro outra outros outras cada mesmo mesma assim ainda""",
    "nl": """
de het een en of maar want dus omdat als dat die dit deze wie wat waar wanneer waarom hoe welke welk ik jij je u hij
zij ze we wij jullie mij me jou hem haar ons hen hun mijn zijn uw onze is was waren ben bent word wordt worden werd
werden geweest heb hebt heeft hebben had hadden kan kunnen kon moet moeten zal zullen zou zouden wil willen mag niet
geen wel ook nog al zeer dan toen er daar hier naar van voor met zonder te ten ter bij tot uit op aan in over onder om
door sinds tussen tegen na tijdens alle veel meer meest andere elk iets niets""",
    "sv": """
den det de en ett och eller men för att som om när var där hur varför vad vem vilken vilket vilka jag du han hon vi ni
mig dig honom henne oss er dem sig min mitt mina din sin sitt sina vår vårt våra deras dess denna detta dessa är var
varit vara blir bli blev har hade ha haft kan kunde ska skall skulle vill måste får inte ingen inget inga bara också
redan mycket så då här nu efter från med utan till av hos ut upp på i över under genom sedan mellan mot innan alla
allt mer mest andra någon något några varje""",
    "da": """
den det de en et og eller men for at som om når hvor hvordan hvorfor hvad hvem hvilken hvilket hvilke jeg du han hun
vi mig dig ham hende os jer dem sig min mit mine din sin sit sine vores deres dens dette denne disse er var været være
bliver blive blev har havde have haft kan kunne skal skulle vil ville må ikke ingen intet kun også allerede meget så
da her nu efter fra med uden til af hos ud op på i over under gennem siden mellem mod før alle alt mere mest andre
nogen noget nogle hver""",
    "no": """
den det de en et ei og eller men for å at som om når hvor hvordan hvorfor hva hvem hvilken hvilket hvilke jeg du han
hun vi meg deg ham henne oss dere dem seg min mitt mine din sin sitt sine vår vårt våre deres dens dette denne disse
er var vært være blir bli ble har hadde ha hatt kan kunne skal skulle vil ville må ikke ingen bare også allerede mye
så da her nå etter fra med uten til av hos ut opp på i over under gjennom siden mellom mot før alle alt mer mest andre
noen noe hver""",
    "fi": """
ja tai mutta että jos kun koska vaikka kuin sekä eli ei en et emme ette eivät ole on ovat oli olivat ollut olla olisi
minä sinä hän me te he se ne tämä tuo nämä nuo joka jotka jonka jossa mikä mitä kuka missä milloin miksi miten miten
minun sinun hänen sen niiden tämän tässä siinä voi voivat pitää täytyy myös vain vielä jo hyvin niin nyt sitten kanssa
ilman ennen jälkeen mukaan kaikki muut toinen kuten""",
    "pl": """
i a oraz lub albo ale więc bo ponieważ że żeby aby jeśli jeżeli gdy kiedy gdzie jak dlaczego co kto który która które
których którym jaki jaka jakie ja ty on ona ono my wy oni one mnie mi ciebie go jego jej ich im nas nam was się siebie
swój swoje mój moja nasz ten ta to te tego tej tych tym temu jest są był była było były być będzie będą został została
ma mają może mogą można musi trzeba nie tak też także już jeszcze bardzo tylko w we z ze na do od dla o po przed przy
przez bez pod nad między za u podczas oprócz każdy wszystkie inne więcej czy""",
    "cs": """
a i nebo ale protože že aby jestliže když kdy kde jak proč co kdo který která které kteří kterých jaký já ty on ona
ono my vy oni mě mi tě ho jeho její jejich jim nás nám vás se si svůj své můj náš ten ta to ty toho té těch tím tento
tato toto je jsou jsem byl byla bylo byli být bude budou má mají může mohou musí není ne tak také už ještě velmi jen
pouze v ve z ze s na do od pro o po před při přes bez pod nad mezi za u během každý všechny jiné více nebyl tedy však""",
    "tr": """
ve veya ya ile ama fakat ancak çünkü eğer ki de da bir bu şu o bunu bunun buna bunlar şunu onu onun ona onlar ben sen
biz siz beni seni bizi benim senin bizim kendi ne neden niçin nasıl nerede nereye kim hangi kaç mi mı mu mü için gibi
kadar göre sonra önce daha en çok az her hiç bazı tüm bütün diğer olan olarak oldu olduğu olduğunu olur olabilir var
yok değil idi ise hem şey artık sadece yalnız yani böyle üzere tarafından""",
    "ru": """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня еще
ещё нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять вам ведь там потом себя
ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж
тогда кто этот того потому этого какой какая какие каких ним здесь этом один почти мой тем чтобы нее неё сейчас были
куда зачем почему всех можно при об другой после над больше тот через эти нас про них какая много разве эту моя свою
этой перед иногда лучше чуть том такой им более всегда который которая которое которые которых это как сколько наш
пожалуйста""",
}


def _english() -> frozenset[str]:
    contracted = (f"{word}{ending}" for ending, words in _CONTRACTED.items() for word in words.split())
    return frozenset(_ENGLISH.split()) | frozenset(contracted)


STOPWORDS: dict[str, frozenset[str]] = {"en": _english()} | {code: frozenset(words.split()) for code, words in _WORDS.items()}

_SCRIPTS: tuple[tuple[int, int, str], ...] = (
    (0x41, 0x5A, "latin"),
    (0x61, 0x7A, "latin"),
    (0xAA, 0x24F, "latin"),
    (0x370, 0x3FF, "greek"),
    (0x400, 0x52F, "cyrillic"),
    (0x531, 0x58A, "armenian"),
    (0x591, 0x5F4, "hebrew"),
    (0x600, 0x6FF, "arabic"),
    (0x750, 0x77F, "arabic"),
    (0x900, 0x97F, "devanagari"),
    (0x980, 0x9FF, "bengali"),
    (0xA00, 0xA7F, "gurmukhi"),
    (0xA80, 0xAFF, "gujarati"),
    (0xB80, 0xBFF, "tamil"),
    (0xC00, 0xC7F, "telugu"),
    (0xC80, 0xCFF, "kannada"),
    (0xD00, 0xD7F, "malayalam"),
    (0xD80, 0xDFF, "sinhala"),
    (0xE00, 0xE7F, "thai"),
    (0xE80, 0xEFF, "lao"),
    (0x1000, 0x109F, "myanmar"),
    (0x10A0, 0x10FF, "georgian"),
    (0x1100, 0x11FF, "hangul"),
    (0x1780, 0x17FF, "khmer"),
    (0x1E00, 0x1EFF, "latin"),
    (0x1F00, 0x1FFF, "greek"),
    (0x3005, 0x3007, "han"),
    (0x3041, 0x309F, "kana"),
    (0x30A1, 0x30FA, "kana"),
    (0x30FC, 0x30FF, "kana"),
    (0x3131, 0x318E, "hangul"),
    (0x31F0, 0x31FF, "kana"),
    (0x3400, 0x4DBF, "han"),
    (0x4E00, 0x9FFF, "han"),
    (0xAC00, 0xD7A3, "hangul"),
    (0xF900, 0xFAFF, "han"),
    (0xFF66, 0xFF9D, "kana"),
    (0x20000, 0x3FFFF, "han"),
)
_STARTS = [start for start, _, _ in _SCRIPTS]
_UNSPACED = frozenset({"han", "kana", "hangul", "thai", "lao", "khmer", "myanmar"})
_ONE_LANGUAGE = {
    "greek": "el",
    "armenian": "hy",
    "bengali": "bn",
    "gurmukhi": "pa",
    "gujarati": "gu",
    "tamil": "ta",
    "telugu": "te",
    "kannada": "kn",
    "malayalam": "ml",
    "sinhala": "si",
    "thai": "th",
    "lao": "lo",
    "myanmar": "my",
    "georgian": "ka",
    "hangul": "ko",
    "khmer": "km",
}
_EAST_ASIAN = frozenset({"han", "kana", "hangul"})
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_SYNTAX = frozenset("{}[]()<>=;|\\/+*#$&@^~_`%\"':")
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_STATEMENT = re.compile(
    r"[)}@#]\w|[)}]|.*[;{]$|(?:async )?def \w+\(|class \w+[(:]|import [\w.]+(?: as \w+)?$|from [\w.]+ import |package \w+$"
    r"|(?:return|raise|assert|func)\b|(?:if|for|while|elif|else|try|with|except|finally)\b.*:$"
    r"|[\w.]+(?:\[.*\])? ?[-+*|&]?= |[\w.]+\(.*\)$"
)
_LEAST_PROSE = 0.75  # of the letters; measured: Markdown without its code blocks .85 and more, nine of ten Python modules below
_ELIDED = frozenset({"l", "d", "j", "c", "m", "n", "s", "t", "qu"})
_FEWEST_WORDS = 12
_FEWEST_DIFFERENT = 5
_LEAST_SHARE = {"fi": 0.12, "tr": 0.12, "pl": 0.18, "cs": 0.18}  # they inflect where others use a word; .25 for the others
_CLOSE = 0.8
_HINDI = "है हैं में के की का को से और पर यह वह नहीं भी एक था थे थी लिए कि ने"
_MARATHI_NEPALI = "आहे आहेत आणि मध्ये च्या होते नाही छ छन् हो र मा लाई पनि गर्न"


def detect(text: str) -> str | None:
    """The ISO 639-1 code of the language that the beginning of a text is written in; None when that is unsure.

    Unsure are texts of a few words, mixed ones, code, tables, and languages of the Latin script that STOPWORDS lacks.
    """
    sample = _FENCED.sub("", text[:SAMPLE])
    prose = "\n".join(line for line in sample.splitlines() if _is_prose(line))
    if sum(map(str.isalpha, prose)) < _LEAST_PROSE * sum(map(str.isalpha, sample)):
        return None
    scripts = Counter(filter(None, map(_script, prose)))
    if not scripts:
        return None
    # Beside Latin names in a Chinese, Japanese or Korean text, one character is worth about three letters.
    weights = {script: count * (3 if script in _EAST_ASIAN else 1) for script, count in scripts.items()}
    kana, han = scripts["kana"], scripts["han"]
    weights["han"] = 3 * (han + kana)
    weights.pop("kana", None)
    main = max(weights, key=lambda script: weights[script])
    fewest = 8 if main in _EAST_ASIAN else 20
    if weights[main] < 0.6 * sum(weights.values()) or scripts[main] + (kana if main == "han" else 0) < fewest:
        return None
    if main == "han":
        return _chinese_or_japanese(han, kana)
    decide = _BY_TEXT.get(main)
    return decide(prose.lower()) if decide else _ONE_LANGUAGE[main]


def query_stopwords(query: str) -> frozenset[str]:
    """The words to drop from a query: English ones always, another language's when the query is more that than English.

    More means that at least two different words are that language's function words, and more than are English ones: "die" and
    "man" are words to look for in "why do threads die" and "man in the middle".
    """
    words = set(_words(query.lower()))
    counts = {code: sum(_is_stop_word(word, code) for word in words) for code in STOPWORDS}
    best = max(counts, key=lambda code: counts[code])
    if counts[best] < 2 or counts[best] <= counts["en"]:
        return STOPWORDS["en"]
    return STOPWORDS["en"] | STOPWORDS[best]


def _script(char: str) -> str | None:
    code = ord(char)
    if code < 0x80:
        return "latin" if char.isalpha() else None
    start, end, script = _SCRIPTS[bisect_right(_STARTS, code) - 1]
    return script if code <= end and start <= code and not char.isdigit() and char not in "×÷" else None


def _is_prose(line: str) -> bool:
    """Whether a line is no statement and has no more signs than a sentence with a name and a parenthesis in it."""
    signs = sum(char in _SYNTAX for char in line)
    return signs * 7 <= len(line) - line.count(" ") and not _STATEMENT.match(line.strip())


def _words(lowered: str) -> list[str]:
    return _WORD.findall(lowered.replace("\u2019", "'"))


def _is_stop_word(word: str, code: str) -> bool:
    """Also what is cut off before an apostrophe counts: "l'erreur", "dell'errore", "it's"."""
    words = STOPWORDS[code]
    start, cut, _ = word.partition("'")
    return word in words or (bool(cut) and (start in words or (code in {"fr", "it"} and start in _ELIDED)))


def _by_stop_words(lowered: str) -> str | None:
    """The language whose function words make up the expected share of the text, unless another's come close."""
    words = _words(lowered)
    if len(words) < _FEWEST_WORDS:
        return None
    counts = Counter(words)
    shares: dict[str, float] = {}
    for code in STOPWORDS:
        found = {word: count for word, count in counts.items() if _is_stop_word(word, code)}
        # Single letters are words in prose and names in code: they make up the share, but are no evidence.
        if sum(len(word) > 1 for word in found) >= _FEWEST_DIFFERENT:
            shares[code] = sum(found.values()) / len(words)
    ranked = sorted(shares, key=lambda code: -shares[code])
    if not ranked or shares[ranked[0]] < _LEAST_SHARE.get(ranked[0], 0.25):
        return None
    if len(ranked) > 1 and shares[ranked[1]] > _CLOSE * shares[ranked[0]]:
        return None
    return ranked[0]


def _chinese_or_japanese(han: int, kana: int) -> str | None:
    """Japanese prose is a third to two thirds kana; a Chinese text may name something in Japanese."""
    share = kana / (han + kana)
    if share >= 0.2:
        return "ja"
    return "zh" if share <= 0.03 else None


def _cyrillic(lowered: str) -> str | None:
    """By the letters that only some of the languages have; those of Serbian, Belarusian, Kazakh … say that it is none of ours."""
    if _share(lowered, "ђјљњћџѓќѕўәғқңөұүһ") > 0.002:
        return None
    if _share(lowered, "іїєґ") > 0.02:
        return "uk" if _share(lowered, "ыэёъ") < 0.002 else None
    russian, hard_sign = _share(lowered, "ыэё"), _share(lowered, "ъ")
    if russian > 0.008:
        return "ru"
    return "bg" if hard_sign > 0.008 and russian < 0.001 else None


def _arabic(lowered: str) -> str | None:
    if _share(lowered, "ٹڈڑںےہھێۆەړښۍټډ") > 0.01:
        return None
    if _share(lowered, "پچژگ") > 0.01:
        return "fa"
    return "ar" if _share(lowered, "ةىأإيك") > 0.03 else None


def _hebrew(lowered: str) -> str | None:
    """Yiddish has double letters that Hebrew lacks."""
    return "he" if _share(lowered, "װױײ") < 0.02 else None


def _devanagari(lowered: str) -> str | None:
    words = lowered.replace("।", " ").split()
    hindi, others = (sum(word in known.split() for word in words) for known in (_HINDI, _MARATHI_NEPALI))
    return "hi" if hindi > max(0.1 * len(words), 4 * others) else None


def _share(lowered: str, letters: str) -> float:
    """The share of these letters among all letters of the text."""
    total = sum(map(str.isalpha, lowered))
    return sum(lowered.count(letter) for letter in letters) / total if total else 0.0


_BY_TEXT: dict[str, Callable[[str], str | None]] = {
    "latin": _by_stop_words,
    "cyrillic": _cyrillic,
    "arabic": _arabic,
    "hebrew": _hebrew,
    "devanagari": _devanagari,
}
