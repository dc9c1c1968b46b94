# SPDX-License-Identifier: MIT
"""Finds prose in the project's files, and in it the idioms that readers of other projects do not know.

texts_of(path) yields each piece of prose with its kind.  Tally counts words, sentences and idioms by kind."""

import io
import os
import re
import tokenize

KINDS = ('comment', 'message', 'man', 'doc', 'news', 'script', 'test')
LONG = 30  # words of a sentence that is too long

# Each idiom is plain English somewhere; what counts is how often it occurs.
IDIOMS = {
    'what': r"(?<![\"'`*])\bwhat\b(?! (?:to|if|happens|happened|kinds?)\b|'s\b|[\"'`*?])",
    'where for if': r'^Where (?!(?:to|is|are|do|does)\b)'
                    r'|(?<!case )(?<!place )(?<!point )(?<!file )(?<!that )(?<!directory )(?<!to )(?<!from )(?<!of )'
                    r'\bwhere (?:no|none|there|it|they|one|both|all|some|that|another|others?|nothing|several|users?|jobs?'
                    r'|nobody|somebody|slurm\w*) ',
    'who, whose, whom': r'(?:^|[.;:] )Who(?:se|ever)? (?!.*\?)|\b(?:for|of|by|to|that|and|or|says) who(?:se|ever)? \w+s\b|\bwhom\b',
    'of which': r'\b(?:of|by|from) which \w+ (?:is|are|has|have|was|were|does|makes?|comes?)\b',
    'of first': r'^Of (?!course|note|these|those|particular)\w',
    'is there': r'\b(?:is|are|was|were|be|been) there\b(?! (?:is|are|was|any|an?|no)\b)',
    'is no': r'(?<!there )(?<!it )\b(?:is|are|was|were|has|have) (?:no|none)'
             r'(?= (?!longer|more|effect|need|reason|such|way|known|one)[a-z]+[,.;:]|[,.;:])',
    'nobody': r'\b(?:no|some|every|any)body\b',
    'behind': r'(?<!rank )(?<!ranks )(?<!ranked )(?<!ahead, )(?<!or )(?<!far )\bbehind\b(?! the (?:scenes|back)| a (?:proxy|firewall))',
    'is another': r'\b(?:is|are|was|were|be|been|been an) (?:others?|another)(?=[,.;:)]|$| than)',
    'anew': r'\b(?:anew|once more|so many|so much|likewise|all else|its like|its kin)\b',
    'told': r'\b(?:is|are|was|were|be|been|not) told(?! to)\b|\btells? of\b|\b(?:says?|tells?|told|knows?) nothing\b',
    'as it has it': r'\bas [\w ]{1,25} (?:has|have|had|says|wants) it\b|\bto be (?:had|freed)\b|\b(?:yet|still) to come\b',
    'those that': r'\b(?:those (?:of|that|which|who|with|are)|the ones? that|all that (?:is|are|was|were|has)'
                  r'|that of (?:another|others|it|them|its|all|the others?))\b|\b(?<!\w )one that\b',
    'stands': r'\bstands?\b(?! (?:for|alone|in for|out|up|by|at)\b)|\bgoes (?:on|by)\b|\bany more\b(?! [a-z]+s\b)'
              r'|\bnot there\b|\b(?:has|is|where) none\b',
    'he': r'\b(?:he|his|him|himself)\b',
    'preposition last': r'\b(?:which|that|what|who|whom|it|they)\b[^.;,:()]{3,40} (?:of|from|by|for|with|at)[.;]$',
    'private word': r'\b(?:sealed|unsealed|witness(?:es)?|heirs?|tellers?|sightings?)\b',
}
CASED = ('where for if', 'of first', 'he')
IDIOMS = {name: re.compile(rule, 0 if name in CASED else re.I) for name, rule in IDIOMS.items()}
# A piece of prose that begins so names a question, not its subject.
OPENER = re.compile(r'(?:What|Whether|Who|Whose|Whom|Where|Which of)\b(?![^.]*\?)')

WORD = re.compile(r"[A-Za-z][\w'’-]*")
END_OF_SENTENCE = re.compile(r'(?<=[.?!])["\')]*\s+(?=[A-Z`"\'(<*])')
C_TOKEN = re.compile(r'/\*(?P<block>.*?)\*/|//(?P<line>[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])+\'', re.S)
C_CODE = re.compile(r'[;{}]\s*$|^\s*[\w.>-]+ ?[-+|&]?= |\w\(.*\);')
SQL = re.compile(r'\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|GRANT|REVOKE|FROM|WHERE|ORDER|GROUP|JOIN|LEFT|UNION|WITH'
                 r'|SET|VALUES|AND|BEGIN|COMMIT|LOCK|COPY)\b')
LICENCE = re.compile('SPDX|[Cc]opyright|LICENSE')


def has_words(text):
    return re.search(r'[a-z]+ [a-z]+ [a-z]+', text) and not SQL.match(text) and '</' not in text


def line_at(text, offset):
    return text.count('\n', 0, offset) + 1


def of_c(text):
    """Comments, lines of // that follow each other as one; and literals that the compiler joins, as messages."""
    comments, literals, end = [], [], {}
    for token in C_TOKEN.finditer(text):
        kind = token.lastgroup
        if kind is None:
            continue
        found = literals if kind == 'text' else comments
        between = text[end[kind]:token.start()] if kind in end else 'none'
        body = token[kind][1:-1] if kind == 'text' else token[kind]
        joined = kind == 'line' and re.fullmatch(r'\n[ \t]*', between) \
            or kind == 'text' and re.fullmatch(r'(?:\s|\\\n|PRI\w+|[A-Z_]{4,})*', between)
        if joined:
            found[-1][1] += ('\n' if kind == 'line' else ' ') + body
        else:
            found.append([token.start(), body])
        end[kind] = token.end()
    for offset, body in comments:
        prose = re.sub(r'(?m)^\s*\*+ ?|[-=*#/]{3,}', ' ', body)
        if not LICENCE.search(body) and not C_CODE.search(prose):
            yield 'comment', line_at(text, offset), prose
    for offset, body in literals:
        prose = re.sub(r'%[-.*\d]*[a-zA-Z]+', 'X', re.sub(r'\\[nt]', ' ', body))
        if has_words(prose):
            yield 'message', line_at(text, offset), prose


def of_paragraphs(text, kind, skipped):
    """Paragraphs and items of lists, but not blocks of code, tables and headings."""
    blank = lambda match: re.sub(r'[^\n]', ' ', match[0])
    text = re.sub(r'(?ms)^ *```.*?^ *```|<!--.*?-->', blank, text)
    start = 0
    for part in re.split(r'(\n[ \t]*\n|\n(?=\s*(?:[*+-]|\d+\.) )|\n(?=\|))', text):
        if part.strip() and not re.match(skipped, part.lstrip('\n')):
            yield kind, line_at(text, start), part
        start += len(part)


def of_python(text):
    """Comments as `script', and strings of words as `test': names of tests, messages, docstrings."""
    last = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith('#!'):
            line = token.string.lstrip('#: ')
            if last and last[1] == token.start[0] - 1:
                last = last[0] + '\n' + line, token.start[0], last[2]
            else:
                if last:
                    yield 'script', last[2], last[0]
                last = line, token.start[0], token.start[0]
        elif token.type == tokenize.STRING:
            string = re.sub(r'^\w*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', '', token.string)
            if len(string) >= 20 and has_words(string) and not re.search(r'[\\{}=$\[\]|<>]', string):
                yield 'test', token.start[0], string
    if last:
        yield 'script', last[2], last[0]


def of_script(text, mark):
    for match in re.finditer(rf'(?m)(?:^[ \t]*{mark}(?![!#-]) ?[^\n]*\n?)+', text):
        if not LICENCE.search(match[0]):
            yield 'script', line_at(text, match.start()), re.sub(rf'(?m)^\s*{mark} ?', '', match[0])


def texts_of(path):
    """(kind, line, prose) of each piece of prose in a file; a file of another kind has none."""
    name = os.path.basename(path)
    if not re.search(r'(\.([ch]|pod|md|py|t|sh|sql|awk|conf)|NEWS)$', name):
        return []
    with open(path, encoding='utf-8') as file:
        text = file.read()
    if name.endswith(('.c', '.h')):
        found = of_c(text)
    elif name == 'NEWS':
        found = of_paragraphs(text, 'news', r'={3,}|#|-{3,}| {8}|\t')
    elif name.endswith('.pod'):
        found = of_paragraphs(re.sub(r'[BICFLE]<+ ?([^<>]*?) ?>+', r'\1', text), 'man', r'=|[ \t]')
    elif name.endswith('.md'):
        found = of_paragraphs(re.sub(r'\]\([^)]*\)', ']', text), 'doc', r'#|\||    |\t')
    elif name.endswith(('.py', '.t')) and not text.startswith('#!/bin/'):
        found = of_python(text)
    else:
        found = of_script(text, '--' if name.endswith('.sql') else '#')
    return [(kind, line, prose) for kind, line, prose in found if not LICENCE.search(prose)]


def sentences(prose):
    return [re.sub(r'\s+', ' ', part).strip(' -*') for part in END_OF_SENTENCE.split(prose)]


def idioms(sentence):
    return [name for name, rule in IDIOMS.items() for _ in rule.finditer(sentence)]


class Tally:
    """Of one kind of prose: how many words, sentences, pieces, long sentences, openers; the sentences with idioms."""

    def __init__(self):
        self.words = self.sentences = self.pieces = self.openers = 0
        self.found, self.long = [], []

    def add(self, place, prose):
        self.pieces += 1
        self.openers += bool(OPENER.match(prose.strip(' \t\n*-')))
        for sentence in sentences(prose):
            words = len(WORD.findall(sentence))
            self.words += words
            self.sentences += words >= 3
            if words > LONG:
                self.long.append(f'{place}: {words} words: {sentence}')
            self.found += [f'{place}: {name}: {sentence}' for name in idioms(sentence)]

    def per_thousand(self):
        return 1000 * len(self.found) / max(1, self.words)


def tally(paths):
    """A Tally for each of KINDS."""
    by_kind = {kind: Tally() for kind in KINDS}
    for path in paths:
        for kind, line, prose in texts_of(path):
            by_kind[kind].add(f'{path}:{line}', prose)
    return by_kind
