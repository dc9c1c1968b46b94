#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
#
# page.pl PAGE.html PAGE.css NOTICES LIBRARY.js... -- SCRIPT.js... > page.c
#
# Makes one text of a page and what belongs to it, in three pieces: what is seen without scripts comes
# between the first two, the data between the last two.  They are the C strings page_before[],
# page_between[] and page_after[] of src/report/page/page.h.  In the page, a line @NAME@ is what is
# put there; @STYLE_HASH@ and @SCRIPT_HASH@ tell the browser that these, and no others, may be used.
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

# As a browser sees it between the tags, so that nothing may end the element before its end.
sub element {
    my ($name, $text) = @_;
    die "page.pl: something in the $name would end it\n" if $text =~ m{</$name|<!--}i;
    my $hash = sha256_base64($text);
    $hash .= '=' x (-length($hash) % 4);
    return ($text, "'sha256-$hash'");
}

# Comments and the blanks before a line, of our own files, are for those who read the sources.
sub without_comments {
    my ($text) = @_;
    $text =~ s{^[ \t]*//.*\n}{}mg;
    $text =~ s{/\*.*?\*/\n?}{}sg;
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

my ($page_path, $style_path, $notices_path, @script_paths) = @ARGV;
my ($libraries, $own) = ('', '');
my $is_own;
for my $path (@script_paths) {
    if ($path eq '--') {
        $is_own = 1;
        next;
    }
    my $script = content($path);
    if ($is_own) {
        $own .= without_comments($script);
    } else {
        # Where a map would be is no concern of a page that asks nobody.
        $script =~ s{^//[#@] sourceMappingURL=.*\n?}{}mg;
        $libraries .= "$script;\n";
    }
}
my ($style, $style_hash) = element('style', without_comments(content($style_path)));
my ($script, $script_hash) =
    element('script', "$libraries(function () {\n'use strict';\n$own})();\n");
my $notices = content($notices_path);

my %parts = (
    STYLE => $style, STYLE_HASH => $style_hash, SCRIPT => $script, SCRIPT_HASH => $script_hash,
    NOTICES => $notices, PLAIN => '@PLAIN@', DATA => '@DATA@',
);
my $page = content($page_path);
$page =~ s{^<!-- SPDX.*\n}{}mg;
$page =~ s{\@([A-Z_]+)\@}{$parts{$1} // die "page.pl: unknown \@$1\@\n"}eg;
my ($before, $between, $after) = split /\@(?:PLAIN|DATA)\@/, $page, 3;
defined $after or die "page.pl: there is no \@PLAIN\@ or no \@DATA\@ in $page_path\n";

print "/* Made by page.pl from the files in src/report/page/ and charting libraries. */\n";
print "#include \"report/page/page.h\"\n";
c_string('page_before', $before);
c_string('page_between', $between);
c_string('page_after', $after);
