#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
#
# dashboards.pl SOURCE.sql DRIVER AUDIENCE > DASHBOARD.json
#
# Makes a Grafana dashboard from SOURCE, for the data source of DRIVER (mysql, pgsql) and for AUDIENCE
# (viewers, operators).  SOURCE has lines `-- WORD: VALUE`.  The query follows the lines of its panel:
#
#   -- dashboard: NAME TITLE           the page: site, account or health
#   -- variable: NAME                  a variable that the reader sets; its query lists the values
#   -- panel: TITLE                    begins a panel
#   -- about: TEXT                     describes the panel and how to read it
#   -- kind: KIND                      the kind of drawing, a key of %kinds
#   -- size: WIDTH HEIGHT              in columns (a page has 24) and rows; panels fill rows from the left
#   -- unit: UNIT                      the unit of all columns
#   -- units: COLUMN=UNIT ...          the units of some columns
#   -- steps: COLOUR FROM=COLOUR ...   the colors of values
#   -- for: operators                  the panel shows user names, so viewers do not get it
#
# Each query must run on MariaDB, MySQL and PostgreSQL: without quoted names and divisions of integers, with
# times in seconds, and with macros that both data sources have.
use strict;
use warnings;
use JSON::PP ();

my %plugins = (mysql => 'mysql', pgsql => 'postgres');
my ($true, $false) = (JSON::PP::true, JSON::PP::false);

sub curves {
    my (%custom) = @_;
    return {
        type => 'timeseries', format => 'time_series',
        custom => { lineWidth => 1, spanNulls => $true, showPoints => 'auto', %custom },
        options => { legend => { displayMode => 'list', placement => 'bottom', showLegend => $true },
                     tooltip => { mode => 'multi', sort => 'desc' } },
    };
}

# The kinds of panels: Grafana's type, the format of its rows, and the options that differ from its defaults.
my %kinds = (
    curves => curves(),
    points => curves(drawStyle => 'points', pointSize => 5),
    days   => curves(drawStyle => 'bars', fillOpacity => 80, lineWidth => 0, stacking => { mode => 'normal' }),
    shares => curves(fillOpacity => 40, stacking => { mode => 'normal' }),
    # On a logarithmic scale, 2 and 0.5 are equally far from 1.
    ratios => curves(scaleDistribution => { type => 'log', log => 2 }),
    number => {
        type => 'stat', format => 'table',
        options => { colorMode => 'value', graphMode => 'none', textMode => 'auto',
                     reduceOptions => { calcs => ['lastNotNull'], values => $false } },
    },
    bars => {
        type => 'bargauge', format => 'table',
        options => { orientation => 'horizontal', displayMode => 'basic', showUnfilled => $true,
                     reduceOptions => { calcs => [], values => $true, limit => 50 } },
    },
    pairs => {
        type => 'barchart', format => 'table',
        options => { orientation => 'auto', showValue => 'never', xTickLabelRotation => -45,
                     legend => { displayMode => 'list', placement => 'bottom', showLegend => $true } },
    },
    table => {
        type => 'table', format => 'table', custom => { filterable => $true },
        options => { showHeader => $true, cellHeight => 'sm' },
    },
);

# Returns the sections of a source, each with its words and its query.
sub sections {
    my ($path) = @_;
    my (@sections, $section);
    open my $file, '<:encoding(UTF-8)', $path or die "dashboards.pl: cannot read $path: $!\n";
    while (my $line = <$file>) {
        if ($line =~ /^-- (dashboard|variable|panel): (.*)$/) {
            push @sections, $section = { is => $1, name => $2, sql => '' };
        } elsif ($section && $line =~ /^-- (about|kind|size|unit|units|steps|for): (.*)$/) {
            $section->{$1} = defined $section->{$1} ? "$section->{$1} $2" : $2;
        } elsif ($section && $line !~ /^--/) {
            $section->{sql} .= $line;
        }
    }
    close $file or die "dashboards.pl: cannot read $path: $!\n";
    $_->{sql} =~ s/\s+\z// for @sections;
    return @sections;
}

# Returns the colors of values, each with its lower limit.
sub steps {
    my ($text) = @_;
    my ($first, @more) = split ' ', $text // 'text';
    return { mode => 'absolute', steps => [
        { color => $first, value => undef },
        map { my ($from, $colour) = split /=/; { color => $colour, value => $from + 0 } } @more,
    ] };
}

# Returns the settings of single columns.  Names of accounts link to their dashboard.
sub overrides {
    my ($panel, $prefix) = @_;
    my @overrides;
    for my $pair (split ' ', $panel->{units} // '') {
        my ($column, $unit) = split /=/, $pair;
        push @overrides, { matcher => { id => 'byName', options => $column },
                           properties => [{ id => 'unit', value => $unit }] };
    }
    push @overrides, {
        matcher => { id => 'byName', options => 'account' },
        properties => [{ id => 'links', value => [{
            title => 'This account',
            url => "/d/$prefix-account?var-datasource=\${datasource}&var-cluster=\${cluster}&var-account=\${__value.raw}",
        }] }],
    } if $panel->{kind} eq 'table';
    return \@overrides;
}

sub panel {
    my ($panel, $id, $place, $source, $prefix) = @_;
    my $kind = $kinds{ $panel->{kind} // '' } // die "dashboards.pl: panel '$panel->{name}' has no known kind\n";
    return {
        id => $id, title => $panel->{name}, description => $panel->{about} // '', type => $kind->{type},
        gridPos => $place, datasource => $source, options => $kind->{options}, interval => '1m',
        fieldConfig => {
            defaults => { unit => $panel->{unit} // 'short', custom => $kind->{custom} // {}, thresholds => steps($panel->{steps}),
                          color => { mode => $panel->{steps} ? 'thresholds' : 'palette-classic' } },
            overrides => overrides($panel, $prefix),
        },
        targets => [{ refId => 'A', datasource => $source, format => $kind->{format}, rawQuery => $true,
                      editorMode => 'code', rawSql => $panel->{sql} }],
    };
}

# Puts each panel to the right of the previous one, or in a new row if it does not fit.
sub panels {
    my ($sections, @common) = @_;
    my ($x, $y, $height, @panels) = (0, 0, 0);
    for my $section (grep { $_->{is} eq 'panel' } @$sections) {
        my ($w, $h) = split ' ', $section->{size} // die "dashboards.pl: panel '$section->{name}' has no size\n";
        ($x, $y, $height) = (0, $y + $height, 0) if $x + $w > 24;
        push @panels, panel($section, @panels + 1, { x => $x, y => $y, w => $w + 0, h => $h + 0 }, @common);
        ($x, $height) = ($x + $w, $h > $height ? $h + 0 : $height);
    }
    return \@panels;
}

sub variable {
    my ($section, $source) = @_;
    return { name => $section->{name}, label => ucfirst $section->{name}, type => 'query', datasource => $source,
             query => $section->{sql}, definition => $section->{sql}, refresh => 1, sort => 0, hide => 0,
             multi => $false, includeAll => $false, options => [], current => {} };
}

sub dashboard {
    my ($path, $driver, $audience) = @_;
    my $plugin = $plugins{$driver} // die "dashboards.pl: no data source for '$driver'\n";
    my @sections = grep { ($_->{for} // $audience) eq $audience } sections($path);
    my ($head) = grep { $_->{is} eq 'dashboard' } @sections;
    my ($name, $title) = split ' ', $head->{name}, 2;
    my $operators = $audience eq 'operators';
    my $prefix = $operators ? 'fairmill-operators' : 'fairmill';
    my $source = { type => $plugin, uid => '${datasource}' };
    return {
        uid => "$prefix-$name", title => $operators ? "$title, for operators" : $title, description => $head->{about},
        tags => [$prefix], schemaVersion => 38, version => 1, editable => $true, graphTooltip => 1,
        time => { from => 'now-30d', to => 'now' }, refresh => '5m', timezone => 'browser',
        links => [{ type => 'dashboards', title => 'fairmill', tags => [$prefix], asDropdown => $false,
                    keepTime => $true, includeVars => $true, targetBlank => $false, icon => 'external link' }],
        annotations => { list => [] },
        templating => { list => [
            { name => 'datasource', label => 'Data source', type => 'datasource', query => $plugin, refresh => 1,
              regex => '', hide => 0, multi => $false, includeAll => $false, options => [], current => {} },
            map { variable($_, $source) } grep { $_->{is} eq 'variable' } @sections,
        ] },
        panels => panels(\@sections, $source, $prefix),
    };
}

@ARGV == 3 or die "usage: dashboards.pl SOURCE.sql DRIVER AUDIENCE\n";
print JSON::PP->new->utf8->canonical->pretty->encode(dashboard(@ARGV));
