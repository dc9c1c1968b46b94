#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
#
# page.pl PAGE.css SCRIPT.js... > page.c
#
# Makes the C strings of src/report/page/page.h: the style and the scripts of the page, without
# comments, and their hashes in the form that a Content-Security-Policy takes.
use strict;
use warnings;
use Digest::SHA qw(sha256_base64);

sub content {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "page.pl: cannot read $path: $!\n";
    local $/;
    my $content = <$file>;
    close $file or die "page.pl: cannot read $path: $!\n";
    return $content;
}

# Removes comments that begin a line, and the blanks at the start of lines.
sub without_comments {
    my ($text) = @_;
    $text =~ s{^[ \t]*//.*\n}{}mg;
    $text =~ s{^[ \t]*/\*.*?\*/\n?}{}msg;
    $text =~ s{^[ \t]+}{}mg;
    $text =~ s{\n+}{\n}g;
    return $text;
}

sub c_string {
    my ($name, $text) = @_;
    print "\nconst char $name\[] = {\n";
    for my $line ($text =~ /(.{1,64})/sg) {
        print join(',', map { $_ < 128 ? $_ : sprintf "'\\%o'", $_ } unpack 'C*', $line), ",\n";
    }
    print "0};\n";
}

# The browser reads the text between the tags of the element, so nothing in it may end the element.
sub element {
    my ($tag, $name, $text) = @_;
    die "page.pl: the $tag contains the end of its element\n" if $text =~ m{</$tag|<!--}i;
    my $hash = sha256_base64($text);
    $hash .= '=' x (-length($hash) % 4);
    c_string($name, $text);
    c_string("${name}_source", "'sha256-$hash'");
}

my ($style, @scripts) = @ARGV;
print "/* Made by page.pl from files in src/report/page/. */\n";
print "#include \"report/page/page.h\"\n";
element('style', 'page_style', without_comments(content($style)));
element('script', 'page_script',
    "(function () {\n'use strict';\n" . join('', map { without_comments(content($_)) } @scripts) . "})();\n");
